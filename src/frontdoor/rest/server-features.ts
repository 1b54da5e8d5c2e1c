/** Features of a server: what it takes and offers, as clients learn before all else. */

import type { GraphHost } from '../../graph/index.ts'

/** The credentials that a server takes. */
export type TakenAuth = 'none' | 'keys' | 'sessions' | 'keys+sessions'

/** Parts of a server that not every server has. */
export interface ServerFeatures {
  /** The web UI. */
  readonly studio: boolean
  readonly traces: boolean
  readonly crons: boolean
  readonly store: boolean
  /** True if other members can join. */
  readonly cluster: boolean
  /** True if admins can manage API keys. */
  readonly keys: boolean
  /** True if it serves deployments beside its own project. */
  readonly deployments: boolean
}

/** A graph of the project. */
export interface ServedGraph {
  readonly graph_id: string
  /** Why it cannot be loaded; absent if it can be. */
  readonly error?: string
}

/** Characters of a reason that are shown: it has a text of the project's code. */
const reasonLength = 1_000

/** Description of a server for its callers: its credentials, features and graphs. */
export interface ServerOffer {
  readonly auth: TakenAuth
  readonly features: ServerFeatures
  /** The graphs, with why some cannot be loaded. */
  graphs(): readonly ServedGraph[]
}

/** Lists the graphs, with why some cannot be loaded. */
export function servedGraphs(host: Pick<GraphHost, 'graphs'>): readonly ServedGraph[] {
  return host.graphs().map(({ graphId, failed, failure }) => ({ graph_id: graphId,
    ...failed && { error: (failure ?? 'It cannot be loaded.').slice(0, reasonLength) } })
  )
}
