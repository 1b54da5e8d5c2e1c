/** The deployments of a member for its actors, which are opened before records can be read. */

import { HeddleError } from '../../errors.ts'
import type { DeployedGraphs } from '../../graph/index.ts'
import type { Serving } from '../../deployment/index.ts'

/** Serving of deployments that becomes available later. */
export interface LaterServing {
  readonly graphs: DeployedGraphs
  /** Resolves with the serving when it is available. */
  readonly opened: Promise<Serving>
  /** Makes the serving available. */
  settle(serving: Serving): void
}

/** Threads of deployments wait until records can be read. */
export function laterServing(): LaterServing {
  const { promise: opened, resolve } = Promise.withResolvers<Serving>()
  let serving: Serving | undefined
  return {
    opened,
    settle: (value) => {
      serving = value
      resolve(value)
    },
    graphs: {
      open: async (namespace) => await (await opened).open(namespace),
      view: (namespace) => serving?.view(namespace),
      hostOf: (namespace, revision) => {
        if (serving !== undefined) return serving.hostOf(namespace, revision)
        throw new HeddleError('unavailable', 'This member does not know its deployments yet.')
      },
      onChange: (...watch) => serving?.onChange(...watch) ?? (() => {}),
      ended: (...end) => serving?.ended(...end),
    },
  }
}
