// Merges each line of standard input, {"base", "ours", "theirs"} as texts, with two libraries,
// and answers a line each: {"git-json-merge": text or null, "trimerge": text or null}.
// null is a refusal: what the library throws, which Git would take for a conflict.
'use strict'

const readline = require('node:readline')
const { mergeJson } = require('git-json-merge')
const {
  combineMergers, trimergeArrayCreator, trimergeJsonDeepEqual, trimergeJsonObject
} = require('trimerge')

const edge = ['source', 'target', 'type']

// trimerge is told what tells the elements of an array apart: the best that a caller can do.
function keyOf (item, index) {
  if (typeof item === 'string') return item
  if (item === null || typeof item !== 'object') return `#${index}`
  if ('id' in item || 'name' in item) return String(item.id ?? item.name)
  return edge.every((key) => key in item) ? edge.map((key) => item[key]).join('\0') : `#${index}`
}

const trimerge = combineMergers(
  trimergeJsonDeepEqual, trimergeJsonObject, trimergeArrayCreator(keyOf)
)

function attempt (merge) {
  try {
    return merge()
  } catch {
    return null
  }
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { base, ours, theirs } = JSON.parse(line)
  const sides = [base, ours, theirs].map((text) => JSON.parse(text))
  console.log(JSON.stringify({
    'git-json-merge': attempt(() => mergeJson(ours, base, theirs)),
    trimerge: attempt(() => JSON.stringify(trimerge(...sides)))
  }))
})
