/** A log that hides values of secrets: what code throws at its import may have one in it. */

import type { Details, Log } from '../../../cluster/index.ts'

/** The same log, whose lines go through `hide`, with all of their details. */
export function hidingLog(log: Log, hide: (text: string) => string): Log {
  const hidden = (details: Details | undefined): Details | undefined =>
    details && Object.fromEntries(
      Object.entries(details).map(([name, value]) => [name, hiddenIn(value, hide)]),
    )
  return {
    debug: (message, details) => log.debug(hide(message), hidden(details)),
    info: (message, details) => log.info(hide(message), hidden(details)),
    warn: (message, details) => log.warn(hide(message), hidden(details)),
    error: (message, details) => log.error(hide(message), hidden(details)),
    child: (details) => hidingLog(log.child(hidden(details)!), hide),
  }
}

function hiddenIn(value: unknown, hide: (text: string) => string): unknown {
  if (value instanceof Error) return hide(value.stack ?? value.message)
  return typeof value === 'string' ? hide(value) : value
}
