/** The deployments of a member for its actors, which are opened before records can be read. */

import { HeddleError } from '../../errors.ts'
import type { DeployedGraphs } from '../../graph/index.ts'
import type { Serving } from '../../deployment/index.ts'

/** Calls of a serving that callers make whether it is available or not. */
export type ServingCalls = Pick<Serving,
  | 'all'
  | 'components'
  | 'find'
  | 'learn'
  | 'lines'
  | 'named'
  | 'openReplay'
  | 'prepare'
  | 'problems'
  | 'requireServes'
  | 'tally'
  | 'watch'>

/** Serving of deployments that becomes available later. */
export interface LaterServing {
  readonly graphs: DeployedGraphs
  /** Calls that wait for the serving. Those that cannot wait find nothing served before. */
  readonly serving: ServingCalls
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
    serving: {
      all: () => serving?.all() ?? [],
      components: (deployment) => ({
        namesOf: async (graphId) => await (await opened).components(deployment).namesOf(graphId),
        read: async (name) => await (await opened).components(deployment).read(name),
      }),
      find: async (name) => await (await opened).find(name),
      learn: async (name) => await (await opened).learn(name),
      lines: async (...query) => await serving?.lines(...query) ?? [],
      named: (host) => serving?.named(host),
      openReplay: async (...replay) => await (await opened).openReplay(...replay),
      prepare: async (options) => await (await opened).prepare(options),
      problems: () => serving?.problems() ?? [],
      requireServes: async (name) => await serving?.requireServes(name),
      tally: (options) => serving?.tally(options) ?? { ended: 0, failed: 0, deaths: 0 },
      watch: (...watch) => serving?.watch(...watch) ?? (() => {}),
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
