/** Starts a replay, follows it to its end, and says what it found. */

import { pause } from '../../../cluster/index.ts'
import type { Body, ControlReplay, startReplay } from '../../api/index.ts'
import { CommandError } from '../admin-command.ts'
import type { ControlAccess } from './control-command.ts'

/** Time between looks at a replay. */
const lookMs = 500
const titles = { same: 'same', same_result: 'same result', diverged: 'diverged', fixed: 'fixed',
  failed: 'failed', unstable: 'unstable', not_replayable: 'not replayable' } as const

/** The request for a replay. */
export type ReplayBody = Body<typeof startReplay>

/** Starts a replay and resolves when it is done. Throws CommandError if it does not get there. */
export async function replayed(access: ControlAccess, body: ReplayBody,
  progress: (text: string) => void): Promise<ControlReplay> {
  const { client, name: deployment, env } = access
  let seen = await client.ask('POST /control/v1/deployments/:deployment/replays', {
    params: { deployment },
    body,
  })
  const { replay: { id } } = seen
  while (seen.replay.phase === 'running') {
    const { replay: { runs }, done } = seen
    progress(runs === null ? 'choosing the runs' : `${done} of ${runs} runs`)
    await pause(env, lookMs)
    seen = await client.ask('GET /control/v1/deployments/:deployment/replays/:replay', {
      params: { deployment, replay: id },
    })
  }
  const { replay: { phase, reason } } = seen
  if (phase === 'done') return seen
  throw new CommandError(phase === 'cancelled'
    ? 'The replay was cancelled.'
    : `The replay failed: ${reason ?? ''}`)
}

type NamedText = readonly [name: string, text: string]

/**
 * A line for each verdict that was given, one for each group of equal differences, and tokens and
 * cost of the models before and after.
 */
export function replayTexts(
  { verdicts, groups, usage, replay: { runs, passed } }: ControlReplay,
): readonly NamedText[] {
  if (!runs) return [['runs', `none is recorded; ${passed} were looked at`]]
  const names = Object.keys(titles) as (keyof typeof titles)[]
  const lines = names.filter((name) => verdicts[name] > 0).flatMap((name): readonly NamedText[] => [
    [titles[name], `${verdicts[name]}`],
    ...groups.filter((group) => group.verdict === name).map((group) =>
      ['', groupText(group)] as const
    ),
  ])
  return [...lines, ...usageTexts(usage)]
}

/** A server of an earlier version says nothing of it. */
function usageTexts(usage: ControlReplay['usage'] | undefined): readonly NamedText[] {
  if (usage === undefined) return []
  const { recorded, replayed, is_at_least: isAtLeast } = usage
  const change = (before: number | null, after: number | null, text: (each: number) => string) =>
    before === null || after === null
      ? '–'
      : `${text(before)} → ${isAtLeast ? 'at least ' : ''}${text(after)}`
  return [['tokens', change(recorded.tokens, replayed.tokens, wholeText)], ['cost',
    change(recorded.cost, replayed.cost, dollarText)]]
}

function wholeText(count: number): string {
  return count.toLocaleString('en').replaceAll(',', ' ')
}

/** Two digits behind the point, or for less than a dollar two that count. */
function dollarText(cost: number): string {
  return `${cost === 0 || cost >= 1 ? cost.toFixed(2) : Number(cost.toPrecision(2))} USD`
}

/** True if more differ than may, or nothing could be compared. */
export function differsMore({ diverged_percent: percent }: ControlReplay, most: number): boolean {
  return percent === null || percent > most
}

/** A percentage as people type it: `2%`. Throws CommandError. */
export function percentIn(option: string, typed: string): number {
  const [, digits] = /^(\d{1,3}(?:\.\d{1,3})?)%?$/.exec(typed) ?? []
  const percent = Number(digits)
  if (percent <= 100) return percent
  throw new CommandError(`${option} must be from 0% to 100%, not "${typed}"`, 'misused')
}

/** Why a replay refuses a revision, in a sentence. */
export function refusalText({ diverged_percent: percent, replay: { revision } }: ControlReplay,
  most: number): string {
  return percent === null
    ? `No recorded run could be compared with ${revision}.`
    : `${percent.toFixed(1)} % of the runs that could be compared differ on ${revision}; ` +
      `${most} % may.`
}

function groupText({ step, node, reason, runs }: ControlReplay['groups'][number]): string {
  const place = [...step === null ? [] : [`step ${step}`], ...node === null ? [] : [node]].join(
    ', ',
  )
  return `${runs} ${place === '' ? '' : `at ${place}: `}${reason}`
}
