/** Has a revision checked by the cluster, also after connections that are cut. */

import { pause } from '../../../cluster/index.ts'
import { CommandError } from '../admin-command.ts'
import type { ControlReport, ControlRevision } from '../../api/index.ts'
import type { ControlAccess } from '../control/control-command.ts'
import { ControlError, failureLines, NoAnswerError } from '../control/control-error.ts'
import { readDeployment } from '../control/rollout.ts'
import type { StepRows } from './step-rows.ts'

/** Result of a check: the revision and its report. */
export interface CheckedRevision {
  readonly revision: ControlRevision
  readonly report: ControlReport
}

/** Time between looks at a check whose connection was cut. */
const lookMs = 300

/** Cuts after which it gives up. */
const cutsMax = 5

/** Resolves when every graph was loaded. Throws CommandError that names those that were not. */
export async function checkRevision(access: ControlAccess, name: string,
  { timeoutMs, rows }: { readonly timeoutMs: number; readonly rows: StepRows }
): Promise<CheckedRevision> {
  rows.progress('check', 'loading the graphs')
  for (let cuts = 0;; cuts++) {
    try {
      return await access.client.ask(
        'POST /control/v1/deployments/:deployment/revisions/:revision/check',
        { params: { deployment: access.name, revision: name }, withinMs: timeoutMs },
      )
    } catch (error) {
      if (error instanceof ControlError && error.code === 'graph_failed') {
        refuse(error, name, rows)
      }
      if (!isCut(error) || cuts === cutsMax) throw error
      await untilIdle(access, timeoutMs)
    }
  }
}

/** True if the connection was cut. A check changes nothing, so it may be asked for again. */
function isCut(error: unknown): boolean {
  return error instanceof NoAnswerError
    || (error instanceof ControlError && ['proxy', 'unavailable'].includes(error.code))
}

function refuse({ code, message, graphs }: ControlError, name: string, rows: StepRows): never {
  const lines = failureLines(graphs)
  rows.done('check', [`${name} is refused`], { revision: name, refused: true, message, graphs })
  throw new ControlError(code, lines.length === 0 ? message : lines.join('\n'), graphs)
}

/** Waits until the check of the cut connection has ended. Until then another one is refused. */
async function untilIdle(access: ControlAccess, withinMs: number): Promise<void> {
  const { env } = access
  const endMs = env.monotonicMs() + withinMs
  while ((await readDeployment(access)).rollout?.kind === 'check') {
    if (env.monotonicMs() > endMs) {
      throw new CommandError('The check takes longer than --timeout: try again in a moment.')
    }
    await pause(env, lookMs)
  }
}
