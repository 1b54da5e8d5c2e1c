/** Splits the output of user code into lines. */

import type { Readable } from 'node:stream'

/**
 * Characters of a line. Longer ones are split, so that text without line breaks does not
 * accumulate.
 */
const lineMax = 64 * 1024

/** Calls `notify` with each line of a stream. */
export function eachLine(stream: Readable, notify: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split(/\r?\n/)
    rest = lines.pop()!
    lines.forEach(notify)
    for (; rest.length > lineMax; rest = rest.slice(lineMax)) notify(rest.slice(0, lineMax))
  })
  stream.on('end', () => {
    if (rest !== '') notify(rest)
  })
}
