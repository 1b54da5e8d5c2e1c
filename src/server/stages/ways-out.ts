/** The ways out of a server: for webhooks, for models and to its own routes. */

import { isOwnRoute, openEgress } from '../../egress/index.ts'
import type { Egress } from '../../egress/index.ts'
import { loopbackRanges, ownVersion } from '../../settings/index.ts'
import type { Settings } from '../../settings/index.ts'
import { OwnRoutes } from '../own-routes.ts'
import type { OwnRoutesOptions } from '../own-routes.ts'

/** The ways out of a server. */
export interface WaysOut {
  /** The way of webhooks: to servers of others, and to routes of the deployment itself. */
  readonly webhooks: Pick<Egress, 'check' | 'send'>
  readonly ownRoutes: Pick<OwnRoutes, 'servedAt' | 'notServed'>
  /** The way to models. It may lead to this machine if nobody else reaches the server. */
  readonly modelsWayOut: Egress
  /** Cuts off all calls in progress. */
  close(): Promise<void>
}

/** Opens all of them. No connection opens until the first call. */
export function openWaysOut(
  { egressProxy: proxy, egressAllow: allowed, localModels }: Pick<Settings,
    'egressProxy' | 'egressAllow' | 'localModels'>,
  own: OwnRoutesOptions,
): WaysOut {
  const options = { env: own.env, version: ownVersion(), proxy }
  const wayOut = openEgress({ ...options, allowed })
  const modelsWayOut = localModels.length === 0
    ? wayOut
    : openEgress({ ...options, allowed: [...allowed, ...loopbackRanges] })
  const ownRoutes = new OwnRoutes(own)
  return {
    webhooks: {
      check: (url) => wayOut.check(url),
      send: (call, signal) => (isOwnRoute(call.url) ? ownRoutes : wayOut).send(call, signal),
    },
    ownRoutes,
    modelsWayOut,
    close: async () => {
      await Promise.all([wayOut, modelsWayOut, ownRoutes].map((way) => way.close()))
    },
  }
}
