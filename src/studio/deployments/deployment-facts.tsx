/** Main properties of a deployment in a few lines. */

import { count, counted } from '../parts/amounts.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import type { Deployment } from '../api/control/deployment.ts'
import css from './parts/deployments.module.css'
import { span } from './rollout-words.ts'

/** Limit of the requests that are admitted, and of the size of their bodies. */
function requestsText({ requests, body_mb: mb }: Deployment['limits']): string {
  const rate = requests === null
    ? 'any number'
    : `${count(requests.count)} in ${counted(requests.interval_s, 'second')}`
  return `${rate}, ${mb} MiB each`
}

/** The facts. A phone has no room for them beside a list. */
export function DeploymentFacts({ deployment, isBrief }: {
  readonly deployment: Deployment
  readonly isBrief: boolean
}) {
  const { url, active, previous, next, access, limits, hosts } = deployment
  return (
    <dl className={`${css['facts']} ${isBrief ? css['brief'] : ''}`}>
      <div className={css['wide']}>
        <dt>Address</dt>
        <dd className={css['address']}>
          <span>
            <code title={[url, ...hosts].join('\n')}>{url}</code>
            <CopyButton text={url} label="Copy the address" />
          </span>
        </dd>
      </div>
      <div>
        <dt>Active</dt>
        <dd>
          <b>{active ?? 'nothing yet'}</b>
          {next !== null && `, ${next.revision} gets ${next.percent} %`}
        </dd>
      </div>
      <div>
        <dt>Before</dt>
        <dd>{previous ?? '–'}</dd>
      </div>
      <div>
        <dt>Callers</dt>
        <dd>{access === 'own' ? 'its owner’s keys' : 'every tenant, each with its own data'}</dd>
      </div>
      <div>
        <dt>On each member</dt>
        <dd>
          {counted(limits.workers, 'worker')}, {limits.memory_mb} MiB, {limits.concurrency}{' '}
          runs at once, {span(limits.run_timeout_s)} each
        </dd>
      </div>
      <div>
        <dt>Requests</dt>
        <dd>{requestsText(limits)}</dd>
      </div>
    </dl>
  )
}
