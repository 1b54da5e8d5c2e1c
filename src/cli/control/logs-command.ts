/** The command `heddle logs`: lines that the code of a deployment wrote, on all members. */

import { Command, Option } from 'commander'

import { Backoff } from '../../../cluster/index.ts'
import { CommandError } from '../admin-command.ts'
import type { ControlLine, LinesQuery } from '../../api/index.ts'
import { jsonLine, openDeployment, runControlCommand } from './control-command.ts'
import type { ControlAccess, TypedControl } from './control-command.ts'
import type { ControlCommandSource } from './control-source.ts'
import { ControlError, NoAnswerError } from './control-error.ts'
import { durationMs } from './duration.ts'
import { linesOf } from './line-reader.ts'
import { wholeNumber } from './whole-number.ts'

interface Typed extends TypedControl {
  readonly follow?: boolean
  readonly build?: string
  readonly revision?: string
  readonly level?: ControlLine['level']
  readonly since?: string
  readonly limit: string
}

/** Prints lines until it is interrupted, or what there is. Throws CommandError. */
export function runLogsCommand(source: ControlCommandSource): Promise<void> {
  const command = new Command('heddle logs')
    .description('Prints what the code of a deployment wrote, in order of time.')
    .argument('[name]', 'The deployment.')
    .option('--follow', 'Go on with what is written from now on.')
    .option('--revision <revision>', 'Only lines of this one, as r12.')
    .option('--build <revision>', 'The lines of its build instead.')
    .addOption(new Option('--level <level>', 'Only lines of this level and above.')
      .choices(['debug', 'info', 'warn', 'error']))
    .option('--since <when>', 'Only lines since a time, as 2026-11-27T12:00:00Z, or of the last ' +
      '90s, 5m, 2h.')
    .option('--limit <number>', 'How many of the lines that there are.', '1000')
    .action(async (name: string | undefined, { follow, limit, since, ...typed }: Typed) => {
      const access = await openDeployment(source, typed, name)
      const { build, revision, level } = typed
      const query = { build, revision, level, follow: follow ? true : undefined,
        limit: wholeNumber('--limit', limit, { least: 1, most: 100_000 }),
        since: since === undefined ? undefined : timeOf(since, access.env.nowMs()) }
      const print = (line: ControlLine) => source.print(typed.json ? jsonLine(line) : textOf(line))
      await printLines({ source, access, query, isFollowing: follow ?? false, print })
    })
  return runControlCommand(command, source)
}

/** A typed time in the form that the API takes. */
function timeOf(typed: string, nowMs: number): string {
  if (/^\d+[smhd]$/.test(typed)) {
    return new Date(nowMs - durationMs('--since', typed)).toISOString()
  }
  const ms = Date.parse(typed)
  if (!Number.isNaN(ms)) return new Date(ms).toISOString()
  throw new CommandError('--since must be a time like 2026-11-27T12:00:00Z, or like 90s, 5m, 2h, ' +
    `not "${typed}"`, 'misused')
}

interface Printing {
  readonly source: ControlCommandSource
  readonly access: ControlAccess
  readonly query: LinesQuery
  readonly isFollowing: boolean
  print(line: ControlLine): void
}

/** Prints lines. After a cut, following continues at the time of the last line. */
async function printLines(
  { source, access: { client, name, env }, query, isFollowing, print }: Printing,
): Promise<void> {
  const ended = new AbortController()
  const stopAsking = source.interrupted(() => ended.abort())
  const backoff = new Backoff(env, { firstMs: 200, longestMs: 5_000 })
  const seen = new SeenLines()
  try {
    for (;;) {
      try {
        const { lastAt: since = query.since } = seen
        const answer = await client.open('GET /control/v1/deployments/:deployment/logs', {
          params: { deployment: name },
          query: { ...query, since },
          headers: { accept: 'application/x-ndjson' },
          signal: ended.signal,
        })
        for await (const line of linesOf(answer)) {
          backoff.reset()
          if (seen.isNew(line)) print(line)
        }
        // A build has an end, and a deployment has none until it is removed.
        if (!isFollowing || query.build !== undefined) return
      } catch (error) {
        if (ended.signal.aborted) return
        // A command that never got an answer has a mistake, and one that did goes on.
        if (!isFollowing || seen.lastAt === undefined || isFinal(error)) throw error
      }
      if (ended.signal.aborted) return
      await backoff.pause()
    }
  } finally {
    stopAsking()
  }
}

function isFinal(error: unknown): boolean {
  return error instanceof ControlError
    ? error.fault === 'refused'
    : !(error instanceof NoAnswerError)
}

/** The lines of the last moment: after a cut, they come again. */
class SeenLines {
  lastAt: string | undefined
  #ofLast = new Set<string>()

  isNew(line: ControlLine): boolean {
    const text = JSON.stringify(line)
    if (line.at !== this.lastAt) this.#ofLast = new Set()
    else if (this.#ofLast.has(text)) return false
    this.lastAt = line.at
    this.#ofLast.add(text)
    return true
  }
}

function textOf({ at, level, member, revision, text }: ControlLine): string {
  return `${at} ${revision} ${member.slice(0, 8)} ${level.padEnd(5)} ${text}\n`
}
