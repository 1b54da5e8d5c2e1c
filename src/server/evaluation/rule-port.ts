/** Actions of rules beyond traces: webhooks, and graphs of this server as judges. */

import { HeddleError } from '../../errors.ts'
import type { GraphHosts } from '../../graph/index.ts'
import { isObject, valueIn } from '../../json/index.ts'
import type { RulePort } from '../../platform/index.ts'
import type { RunsOfServer } from '../cron-firing.ts'

/** Parts of the server that the actions use. */
export interface RulePortParts {
  readonly egress: RulePort['egress']
  readonly graphs: Pick<GraphHosts, 'of' | 'isPaused'>
  readonly runs: Pick<RunsOfServer, 'createStatelessAndWait'>
}

/** The actions of rules on this server. */
export function rulePort({ egress, graphs, runs }: RulePortParts): RulePort {
  return {
    egress,
    graphs: {
      has: (tenant, graphId) => graphs.of(tenant).describe(graphId) !== undefined,
      run: async (tenant, { graphId, input, key, metadata }, signal) => {
        if (graphs.isPaused(tenant)) {
          throw new HeddleError('not_ready', 'The deployment of the judge is paused.')
        }
        // The thread stays, so that the trace of the judge can be read.
        const { row: { runId }, result } = await runs.createStatelessAndWait(tenant, {
          assistant_id: graphId,
          input,
          metadata,
          on_completion: 'keep',
        }, { commandId: key, headers: {} })
        const values = valueIn(await result(signal))
        if (isObject(values) && Object.hasOwn(values, '__error__')) {
          throw new HeddleError('graph_failed', 'The graph of the judge failed.')
        }
        return { runId, values }
      },
    },
  }
}
