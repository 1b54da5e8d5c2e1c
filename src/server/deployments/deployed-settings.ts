/** Settings of langgraph.json for webhooks, items and threads, separately for each namespace. */

import { withPolicy } from '../../egress/index.ts'
import type { Egress, GuardedEgress } from '../../egress/index.ts'
import { HeddleError } from '../../errors.ts'
import { isDeployment, usualSettings, webhookPolicyOf } from '../../graph/index.ts'
import type { DeployedGraphs, DeploymentView, ProjectSettings } from '../../graph/index.ts'
import type { ItemSettings } from '../../items/index.ts'
import type { TimeToLiveRequest } from '../../search/index.ts'

/** The settings of the server's own project, and the source of those of deployments. */
export interface DeployedSettingsParts {
  readonly deployed: Pick<DeployedGraphs, 'view'>
  /** The way out, without the policy of any project. */
  readonly wayOut: Pick<Egress, 'check' | 'send'>
  readonly own: {
    readonly egress: Pick<GuardedEgress, 'check' | 'checkRoute' | 'send'> & { offers?(): boolean }
    /** True if the project brings an app with routes. */
    hasApp(): boolean
    itemSettings(): ItemSettings
    timeToLive(): TimeToLiveRequest | undefined
  }
  /** The variables of a deployment's code, by namespace. */
  variablesOf(namespace: string): Promise<Readonly<Record<string, string>>>
}

/**
 * The settings of all namespaces. Those of a deployment are its active revision's. Each function
 * throws `unavailable` while this member has no view of the deployment, for example while it is
 * removed. A webhook would otherwise leave without the project's headers, and for any host.
 */
export interface DeployedSettings {
  itemSettings(namespace?: string): ItemSettings
  timeToLive(namespace: string): TimeToLiveRequest | undefined
  readonly egress: {
    check(url: string, namespace: string): void
    checkRoute(path: string, namespace: string): void
    offers(namespace: string): boolean
    readonly send: Egress['send']
  }
}

/** Chooses the settings of a namespace at the time of each use. */
export function deployedSettings(parts: DeployedSettingsParts): DeployedSettings {
  const { deployed, wayOut, own, variablesOf } = parts
  const settingsOf = (namespace: string): ProjectSettings | undefined =>
    isDeployment(namespace) ? knownSettings(deployed.view(namespace)) : undefined
  return {
    itemSettings: (namespace = '') => {
      const settings = settingsOf(namespace)
      if (settings === undefined) return own.itemSettings()
      const { ttl_ms: ttlMs, refresh_on_read: refreshOnRead } = settings.store
      return { ttlMs, refreshOnRead }
    },
    timeToLive: (namespace) => {
      const settings = settingsOf(namespace)
      return settings === undefined ? own.timeToLive() : settings.time_to_live ?? undefined
    },
    egress: {
      offers: (namespace) => {
        const settings = settingsOf(namespace)
        if (settings === undefined) return own.egress.offers?.() ?? true
        return webhookPolicyOf(settings, {}).webhooks.offered
      },
      check: (url, namespace) => {
        const settings = settingsOf(namespace)
        if (settings === undefined) return own.egress.check(url)
        withPolicy(wayOut, () => webhookPolicyOf(settings, {}).webhooks).check(url)
      },
      checkRoute: (path, namespace) => {
        const settings = settingsOf(namespace)
        const egress = settings === undefined
          ? own.egress
          : withPolicy(wayOut, () => webhookPolicyOf(settings, {}).webhooks)
        egress.checkRoute(path)
        const hasApp = settings === undefined ? own.hasApp() : settings.http?.app !== undefined
        if (!hasApp) throw new HeddleError('invalid', withoutApp)
      },
      send: async (call, signal) => {
        const settings = settingsOf(call.tenant)
        if (settings === undefined) return await own.egress.send(call, signal)
        const needsVariables = Object.keys(settings.webhooks.headers).length > 0
        const variables = needsVariables ? await variablesOf(call.tenant) : {}
        // Variables of another revision than the settings would make other headers, or none.
        if (settingsOf(call.tenant) !== settings) throw unknownSettings()
        const { webhooks, broken: [fault] } = webhookPolicyOf(settings, variables)
        if (fault !== undefined) {
          return { kind: 'refused', reason: `webhooks.headers.${fault.name} ${fault.message}` }
        }
        return await withPolicy(wayOut, () => webhooks).send(call, signal)
      },
    },
  }
}

const withoutApp = 'must be an absolute http(s) URL: a path names a route of the project, whose ' +
  'langgraph.json names no `http.app`'

/** The settings in a view. Throws `unavailable` if they are not known. */
function knownSettings(view: DeploymentView | undefined): ProjectSettings {
  if (view === undefined || view.lacksSettings) throw unknownSettings()
  return view.settings ?? usualSettings
}

function unknownSettings(): HeddleError {
  return new HeddleError('unavailable',
    'The settings of this deployment are not known right now: ' +
      'it is being changed or removed.')
}
