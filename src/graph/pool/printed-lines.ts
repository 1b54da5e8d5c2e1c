/** The output of user code: its lines, and their way into the log. */

import type { Readable } from 'node:stream'

import type { Env } from '../../../cluster/index.ts'

/**
 * Characters of a line. Longer ones are split, so that text without line breaks does not
 * accumulate.
 */
const lineMax = 64 * 1024

/** Takes a line that user code printed: `info` from its output, `warn` from its error stream. */
export type TakePrinted = (line: string, level: 'info' | 'warn') => void

/** Writes what user code prints to the log, in the name of its thread, after `hide`. */
export function logPrinted(log: Env['log'], name: string,
  hide: (text: string) => string): TakePrinted {
  return (line, level) => log[level](hide(line), { name })
}

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
