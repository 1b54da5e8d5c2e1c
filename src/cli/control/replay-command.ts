/** The command `heddle replay`: what a revision would have done with recorded runs. */

import { Command } from 'commander'

import { CommandError } from '../admin-command.ts'
import { jsonLine, openDeployment, runControlCommand } from './control-command.ts'
import type { TypedControl } from './control-command.ts'
import type { ControlCommandSource } from './control-source.ts'
import { durationMs } from './duration.ts'
import { differsMore, percentIn, refusalText, replayed, replayTexts } from './replay-follow.ts'
import { readDeployment } from './rollout.ts'
import { wholeNumber } from './whole-number.ts'

interface Typed extends TypedControl {
  readonly revision?: string
  readonly sample: string
  readonly graph?: string
  readonly since?: string
  readonly control: boolean
  readonly timeout: string
  readonly maxDiverged?: string
}

/** Replays recorded runs. Throws CommandError; `refused` if more differ than may. */
export function runReplayCommand(source: ControlCommandSource): Promise<void> {
  const command = new Command('heddle replay')
    .description('Executes recorded runs on a revision, in a process that reaches nothing, and ' +
      'says what differs.')
    .argument('[name]', 'The deployment.')
    .option('--revision <name>', 'The revision to try, as r13; by default the active one.')
    .option('--sample <number>', 'How many runs, at most 500.', '100')
    .option('--graph <id>', 'Only runs of this graph.')
    .option('--since <duration>', 'Only runs that are not older: 7d.')
    .option('--no-control', 'Do not replay the recorded revision first.')
    .option('--timeout <duration>', 'How long one run may take.', '60s')
    .option('--max-diverged <percent>', 'Exit with 3 if more runs differ, or none can be compared.')
    .action((name: string | undefined, typed: Typed) => replay(source, name, typed))
  return runControlCommand(command, source)
}

async function replay(source: ControlCommandSource, named: string | undefined,
  { json = false, ...typed }: Typed): Promise<void> {
  const most = typed.maxDiverged === undefined
    ? undefined
    : percentIn('--max-diverged', typed.maxDiverged)
  const sample = wholeNumber('--sample', typed.sample, { least: 1, most: 500 })
  const run_s = Math.ceil(durationMs('--timeout', typed.timeout) / 1_000)
  if (run_s > 600) throw new CommandError('--timeout must be at most 10m', 'misused')
  const since_s = typed.since === undefined
    ? undefined
    : Math.ceil(durationMs('--since', typed.since) / 1_000)
  const access = await openDeployment(source, typed, named)
  const revision = typed.revision ?? (await readDeployment(access)).active
  if (revision === null) throw new CommandError('No revision is active: name one by --revision.')
  const ended = await replayed(access, { revision, sample, control: typed.control, run_s,
    ...typed.graph !== undefined && { graph_id: typed.graph },
    ...since_s !== undefined && { since_s } }, (text) => {
    if (source.isTerminal && !json) source.note(`\r\u001b[K${text}`)
  })
  if (source.isTerminal && !json) source.note('\r\u001b[K')
  if (json) {
    const { runs } = await access.client.ask(
      'GET /control/v1/deployments/:deployment/replays/:replay/runs',
      { params: { deployment: access.name, replay: ended.replay.id } },
    )
    source.print(jsonLine({ ...ended, runs }))
  } else {
    const { id, runs } = ended.replay
    source.print(
      [['replay', `${id}, ${runs ?? 0} runs on ${revision}`] as const, ...replayTexts(ended)].map((
        [name, text],
      ) => `${name.padEnd(16)}${text}\n`).join(''),
    )
  }
  if (most !== undefined && differsMore(ended, most)) {
    throw new CommandError(refusalText(ended, most), 'refused')
  }
}
