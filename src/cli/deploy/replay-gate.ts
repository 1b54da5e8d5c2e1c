/** The gate of a deployment: recorded runs are replayed on the revision before it is activated. */

import type { ControlDeployment, ControlRevision } from '../../api/index.ts'
import { CommandError } from '../admin-command.ts'
import { differsMore, refusalText, replayed, replayTexts } from '../control/replay-follow.ts'
import type { Deploying } from './deploy-plan.ts'
import type { StepRows } from './step-rows.ts'

/** Replays runs on the revision. Throws CommandError, `refused`, if more differ than may. */
export async function passReplay({ access, plan: { replay } }: Deploying, rows: StepRows,
  { name }: Pick<ControlRevision, 'name'>, { active }: ControlDeployment): Promise<void> {
  if (replay === undefined) return
  // Without a revision that is active nothing was recorded yet.
  if (active === null) return rows.done('replay', ['nothing has run yet'], { runs: 0 })
  const ended = await replayed(access, { revision: name, sample: replay.sample },
    (text) => rows.progress('replay', text))
  const texts = replayTexts(ended).map(([title, text]) =>
    title === '' ? `  ${text}` : `${text} ${title}`
  )
  rows.done('replay', texts, { ...ended })
  if (differsMore(ended, replay.maxDiverged)) {
    throw new CommandError(`${refusalText(ended, replay.maxDiverged)}\n${name} stays as it is: ` +
      'it is not activated.', 'refused')
  }
}
