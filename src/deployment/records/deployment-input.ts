/** Checks the members of a deployment that callers set: name, hosts, limits, recording. Pure. */

import { bodyMbMax } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { isRunShare } from '../../settings/index.ts'
import type { DeploymentChange, DeploymentLimits, Preview, RequestLimit } from '../deployment.ts'
import type { NewDeployment } from '../deployments.ts'
import { isDeploymentName } from '../namespace.ts'

/** Hosts of one deployment. */
const hostsMax = 20

type Bound = readonly [least: number, most: number]

/** The bounds of each limit that is a number. */
const bounds: Readonly<Record<Exclude<keyof DeploymentLimits, 'requests'>, Bound>> = {
  workers: [1, 64],
  memory_mb: [64, 262_144],
  concurrency: [1, 100_000],
  run_timeout_s: [1, 604_800],
  body_mb: [1, bodyMbMax],
}
/** Those of the limit of requests. Its counter keeps the time of each one. */
const requestBounds: Readonly<Record<keyof RequestLimit, Bound>> = {
  count: [1, 1_000_000],
  interval_s: [1, 86_400],
}
/** The longest time that an unused preview is kept: 90 days. */
const ttlMsMax = 90 * 24 * 3_600_000

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Throws `invalid` for a bad member. Returns the request with its hosts in lower case. */
export function requireSoundDeployment(options: NewDeployment): NewDeployment {
  if (!isDeploymentName(options.name)) {
    throw new HeddleError('invalid', 'name: it is a DNS label, such as shop: up to 63 letters ' +
      'in lower case, digits and hyphens, and not digits alone.')
  }
  requireLimits(options.limits)
  requireShare(options.record)
  requirePreview(options.preview)
  return options.hosts === undefined ? options : { ...options, hosts: requireHosts(options.hosts) }
}

/** Checks a change as `requireSoundDeployment` checks a new deployment. */
export function requireChange(change: DeploymentChange): DeploymentChange {
  requireLimits(change.limits)
  requireShare(change.record)
  requirePreview(change.preview)
  return change.hosts === undefined ? change : { ...change, hosts: requireHosts(change.hosts) }
}

function requireHosts(said: readonly string[]): readonly string[] {
  const hosts = said.map((host) => host.toLowerCase())
  if (hosts.length > hostsMax) {
    throw new HeddleError('invalid', `hosts: a deployment may have ${hostsMax}.`)
  }
  const wrong = hosts.find((host) => !isHostName(host))
  if (wrong !== undefined) {
    throw new HeddleError('invalid', `hosts: ${JSON.stringify(wrong)} is no host name such as ` +
      'shop.example.org, without a port.')
  }
  if (new Set(hosts).size < hosts.length) {
    throw new HeddleError('invalid', 'hosts: one of them is named twice.')
  }
  return hosts
}

/** True for a host name with two labels at least. The last one is not a number. */
function isHostName(host: string): boolean {
  const labels = host.split('.')
  return host.length <= 253 && labels.length > 1 && labels.every((each) => label.test(each)) &&
    !/^\d+$/.test(labels.at(-1)!)
}

function requireLimits(limits: Partial<DeploymentLimits> | undefined): void {
  const { requests, ...numbers } = limits ?? {}
  requireWithin(numbers, bounds)
  if (requests == null) return
  requireWithin(requests, requestBounds)
  if (Object.keys(requests).length === 2) return
  throw new HeddleError('invalid', 'limits: requests has a count and an interval_s.')
}

function requireWithin(numbers: object, bounds: Readonly<Record<string, Bound>>): void {
  for (const [name, value] of Object.entries(numbers) as [string, unknown][]) {
    const bound = Object.hasOwn(bounds, name) ? bounds[name] : undefined
    if (bound === undefined) throw new HeddleError('invalid', `limits: there is no ${name}.`)
    const [least, most] = bound
    if (!Number.isInteger(value) || Number(value) < least || Number(value) > most) {
      throw new HeddleError('invalid',
        `limits: ${name} is a whole number from ${least} to ${most}.`)
    }
  }
}

function requireShare(record: string | null | undefined): void {
  if (record == null || isRunShare(record)) return
  throw new HeddleError('invalid', 'record: it is off, all or a share of runs like 10%, or null ' +
    'for what langgraph.json says.')
}

function requirePreview(preview: Preview | null | undefined): void {
  if (preview === null || preview === undefined) return
  if (!isDeploymentName(preview.of)) {
    throw new HeddleError('invalid', 'preview: of is the name of a deployment.')
  }
  if (!label.test(preview.label)) {
    throw new HeddleError('invalid', 'preview: label is a DNS label, such as fix-12.')
  }
  if (!(preview.ttlMs > 0 && preview.ttlMs <= ttlMsMax)) {
    throw new HeddleError('invalid', 'preview: it is kept for at most 90 days.')
  }
}
