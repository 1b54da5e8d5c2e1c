/** Cost of a pattern in linear time, in the steps that it takes for each character. Pure. */

/** Weight of one pattern that is matched. With a name of 200 characters it takes about 40 ms. */
export const patternWeightMax = 2_000

/**
 * Estimates the size of the program that a pattern compiles to. Matching takes at most this number
 * of steps for each character of a text. A repeat such as `{0,9}` counts as copies of the repeated
 * part, so a short pattern may be a large program.
 */
export function patternWeight(pattern: string): number {
  /** Weights of the open groups, the outermost first. */
  const groups = [0]
  /** Weight of the last part, which a repeat multiplies. */
  let last = 0
  const add = (weight: number) => {
    groups[groups.length - 1]! += weight
  }
  for (let at = 0; at < pattern.length;) {
    const [length, kind] = partAt(pattern, at)
    if (kind === 'open') groups.push(0)
    else if (kind === 'close') {
      last = (groups.length > 1 ? groups.pop()! : 0) + 1
      add(last)
    } else if (kind === 'repeat') {
      const more = last * (timesIn(pattern.slice(at, at + length)) - 1)
      last += more
      add(more)
    } else {
      if (kind === 'atom') last = length
      add(length)
    }
    at += length
  }
  return groups.reduce((sum, each) => sum + each, 0)
}

type PartKind = 'open' | 'close' | 'repeat' | 'atom' | 'sign'

/** The part of a pattern at a place: its length and its kind. */
function partAt(pattern: string, at: number): readonly [length: number, kind: PartKind] {
  switch (pattern[at]) {
    case '\\':
      return [2, 'atom']
    case '[':
      return [classLength(pattern, at), 'atom']
    case '(':
      return [1, 'open']
    case ')':
      return [1, 'close']
    case '{': {
      const [repeat] = /^\{\d+(?:,\d*)?\}/.exec(pattern.slice(at, at + longestRepeat)) ?? []
      return repeat === undefined ? [1, 'atom'] : [repeat.length, 'repeat']
    }
    case '*':
    case '+':
    case '?':
    case '|':
    case '^':
    case '$':
      return [1, 'sign']
    default:
      return [1, 'atom']
  }
}

const longestRepeat = 32

/** Characters of a class such as `[a-z]`, with its brackets. */
function classLength(pattern: string, from: number): number {
  for (let at = from + 1; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++
    else if (pattern[at] === ']') return at + 1 - from
  }
  return pattern.length - from
}

/** Copies of a part that a repeat such as `{2,5}` makes. */
function timesIn(repeat: string): number {
  const [least = '', most] = repeat.slice(1, -1).split(',')
  return Math.max(1, most === undefined ? Number(least) : Number(most) || Number(least) + 1)
}
