/** The webhook settings of a langgraph.json: where webhooks may go, and with which headers. */

import { z } from 'zod'

import type { WebhookPolicy } from '../../egress/index.ts'

const longest = 2_048

/** Shape of the key `webhooks`. */
export const webhookShape = z.object({
  env_prefix: z.string('must be a text').default('LG_WEBHOOK_'),
  headers: z.record(z.string(), z.string({ error: 'must be a text' }), {
    error: 'must be an object of texts',
  }).default({}),
  url: z.object({
    require_https: z.boolean('must be true or false').default(false),
    allowed_domains: z.array(z.string(), { error: 'must be a list of names' }).default([]),
    allowed_ports: z.array(z.int(), { error: 'must be a list of numbers' }).default([]),
    max_url_length: z.int('must be a number').positive('must be above 0').default(longest),
    disable_loopback: z.boolean('must be true or false').optional(),
  }, { error: 'must be an object' }).prefault({}),
}, { error: 'must be an object' })

/** Checked webhook settings of a project. */
export type WebhookConfig = z.infer<typeof webhookShape>

/** A header whose value cannot be made, and why. */
export interface BrokenHeader {
  readonly name: string
  readonly message: string
}

/**
 * The webhook policy. `${{ env.NAME }}` in headers is replaced by that variable if its name has the
 * prefix.
 */
export function webhooksOf(config: WebhookConfig, disabled: boolean,
  variables: Readonly<Record<string, string | undefined>>
): { readonly webhooks: WebhookPolicy; readonly broken: readonly BrokenHeader[] } {
  const { env_prefix: prefix, url } = config
  const broken: BrokenHeader[] = []
  const headers = Object.entries(config.headers).map(([name, template]) => {
    const text = template.replaceAll(/\$\{\{\s*env\.(\w+)\s*\}\}/g, (_, variable: string) => {
      const value = variables[variable]
      const isOpen = variable.startsWith(prefix)
      if (!isOpen) broken.push({ name, message: `may only use variables that begin ${prefix}` })
      else if (value === undefined) {
        broken.push({ name, message: `uses ${variable}, which is not set` })
      }
      return isOpen && value !== undefined ? value : ''
    })
    return [name.toLowerCase(), text] as const
  })
  const webhooks = {
    offered: !disabled,
    headers: Object.fromEntries(headers),
    httpsOnly: url.require_https,
    hosts: url.allowed_domains,
    ports: url.allowed_ports,
    longestUrl: url.max_url_length,
    ownRoutes: url.disable_loopback !== true,
  }
  return { webhooks, broken }
}
