/**
 * The settings for webhooks, items, threads and routes of a langgraph.json, for a member that only
 * serves it.
 */

import type { WebhookPolicy } from '../../egress/index.ts'
import type { TimeToLiveRequest } from '../../search/index.ts'
import type { AuthSettings } from '../app/auth-settings.ts'
import type { HttpSettings } from '../app/http-settings.ts'
import type { RouteGroup } from '../app/route-groups.ts'
import { webhooksOf } from './project-webhooks.ts'
import type { BrokenHeader, WebhookConfig } from './project-webhooks.ts'

/** Settings of a project as plain JSON. Variables in headers are not replaced yet. */
export interface ProjectSettings {
  readonly webhooks: WebhookConfig
  readonly disable_webhooks: boolean
  readonly store: {
    /** Time to live of items that are put without one; 0 for no end. */
    readonly ttl_ms: number
    readonly refresh_on_read: boolean
  }
  /** Time to live of new threads; null for no end. */
  readonly time_to_live: TimeToLiveRequest | null
  /** Groups of routes that are not served; absent if all are. */
  readonly disabled_routes?: RouteGroup[]
  /** The project's own login; absent if it brings none. */
  readonly auth?: AuthSettings
  /** Its own app, and how its routes are called; absent if nothing is said. */
  readonly http?: HttpSettings
}

const usual: ProjectSettings = {
  webhooks: { env_prefix: 'LG_WEBHOOK_', headers: {},
    url: { require_https: false, allowed_domains: [], allowed_ports: [], max_url_length: 2_048 } },
  disable_webhooks: false,
  store: { ttl_ms: 0, refresh_on_read: true },
  time_to_live: null,
}

/** The settings of a project that has none. */
export const usualSettings = usual

/** True if they are those of a project that has none. */
export function areUsual(settings: ProjectSettings): boolean {
  return JSON.stringify(settings) === JSON.stringify(usual)
}

/**
 * The webhook policy, with its headers made of these variables only, and those that cannot be made.
 */
export function webhookPolicyOf({ webhooks, disable_webhooks }: ProjectSettings,
  variables: Readonly<Record<string, string>>
): { readonly webhooks: WebhookPolicy; readonly broken: readonly BrokenHeader[] } {
  return webhooksOf(webhooks, disable_webhooks, variables)
}
