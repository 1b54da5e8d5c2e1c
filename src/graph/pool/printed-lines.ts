/** What user code prints, line by line. */

import type { Readable } from 'node:stream'

/** Longer lines are split: text without a line break must not accumulate here. */
const lineMax = 64 * 1024

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
