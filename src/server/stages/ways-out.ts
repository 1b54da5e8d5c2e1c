/** The ways out of a server: one for webhooks, and one for models. */

import type { Env } from '../../../cluster/index.ts'
import { openEgress } from '../../egress/index.ts'
import type { Egress } from '../../egress/index.ts'
import { ownVersion } from '../../settings/index.ts'
import type { Settings } from '../../settings/index.ts'

/** Both ways; they are the same where models have no right of their own. */
export interface WaysOut {
  readonly wayOut: Egress
  /** The way to models. It may lead to this machine if nobody else reaches the server. */
  readonly modelsWayOut: Egress
  /** Cuts off all calls in progress. */
  close(): Promise<void>
}

const thisMachine = ['127.0.0.0/8', '::1']

/** Opens both. Nothing is connected until the first call. */
export function openWaysOut(
  { egressProxy: proxy, egressAllow: allowed, localModels }: Pick<Settings,
    'egressProxy' | 'egressAllow' | 'localModels'>,
  env: Env,
): WaysOut {
  const options = { env, version: ownVersion(), proxy }
  const wayOut = openEgress({ ...options, allowed })
  if (localModels.length === 0) return { wayOut, modelsWayOut: wayOut, close: () => wayOut.close() }
  const modelsWayOut = openEgress({ ...options, allowed: [...allowed, ...thisMachine] })
  return { wayOut, modelsWayOut, close: async () => {
    await Promise.all([wayOut.close(), modelsWayOut.close()])
  } }
}
