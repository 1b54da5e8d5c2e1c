/** The check of a webhook that a run names. */

import { isOwnRoute } from '../../egress/index.ts'
import { HeddleError, isOwnFailure } from '../../errors.ts'
import type { GraphHosts } from '../../graph/index.ts'
import { invalid } from '../schema/validation.ts'

/** Checks which webhooks runs of a namespace may call. */
export interface WebhookCheck {
  /** Throws `invalid` with the reason, and `unavailable` while the rules are not known. */
  check(url: string, namespace: string): void
  /** The same for the path of a route of the deployment itself; by default all are refused. */
  checkRoute?(path: string, namespace: string): void
  /** False if runs of the namespace may call none; by default they may. */
  offers?(namespace: string): boolean
}

/** Throws `invalid` for a webhook that may not be called. */
export async function requireWebhook(
  { egress, graphs }: { readonly egress: WebhookCheck; readonly graphs: Pick<GraphHosts, 'open'> },
  tenant: string,
  webhook: string | null | undefined,
): Promise<void> {
  if (webhook == null) return
  // The rules of a deployment are known once it is.
  await graphs.open(tenant)
  try {
    if (isOwnRoute(webhook) && egress.checkRoute) egress.checkRoute(webhook, tenant)
    else egress.check(webhook, tenant)
  } catch (error) {
    const { code, message } = HeddleError.from(error)
    if (isOwnFailure({ code })) throw error
    throw invalid([{ field: 'webhook', message }])
  }
}
