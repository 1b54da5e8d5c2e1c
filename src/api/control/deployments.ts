/** Deployments: made, listed, changed and removed. */

import { Type } from 'typebox'

import { bodyMbMax, DeploymentName, DeploymentPath, PageOf, Whole } from './control-parts.ts'
import { Nullable, OneOf, Text, Time } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'
import { Next, Rollout, RolloutOutcome } from './rollouts.ts'

const settings = {
  access: Type.Optional(
    OneOf(['own', 'any'], { default: 'own',
      description: "Whose keys may call it: its owner's, or those of every tenant, each with its " +
        'own data.' }),
  ),
  limits: Type.Optional(Type.Object({
    workers: Type.Optional(Whole(1, 64)),
    memory_mb: Type.Optional(Whole(64, 65_536)),
    concurrency: Type.Optional(Whole(1, 10_000)),
    run_timeout_s: Type.Optional(Whole(1, 86_400)),
    body_mb: Type.Optional(
      Whole(1, bodyMbMax, { description: 'MiB that the body of a request may have.' }),
    ),
    requests: Type.Optional(Type.Union([
      Type.Object({ count: Whole(1, 1_000_000), interval_s: Whole(1, 86_400) }),
      Type.Null(),
    ], { description: 'How many requests all callers together may send to all members in so many ' +
      'seconds; null for any number.' })),
  }, { description: 'Bounds on each member, but for requests; what is left out stays, or has its ' +
    'default.' })),
  record: Type.Optional(
    Type.Union([Text(16), Type.Null()], { description: 'The share of runs whose outgoing calls ' +
      'are recorded: off, all or 10%; null for what the langgraph.json of the revision says.' }),
  ),
  hosts: Type.Optional(
    Type.Array(Text(253), { maxItems: 20, description: 'Host names of its own.' }),
  ),
}

const Change = Type.Object({ ...settings,
  paused: Type.Optional(Type.Boolean({ description: 'True: none of its runs starts, ' +
    'whether it is new, queued, delayed or of a cron; those that have started go on.' })) }, {
  examples: [{ limits: { body_mb: 5, requests: { count: 600, interval_s: 60 } } }],
})

const Count = () => Type.Integer()
const Deployment = Type.Object({
  name: Text(),
  tenant: Text(),
  access: OneOf(['own', 'any']),
  url: Type.String({ description: 'Where its data are served.' }),
  hosts: Type.Array(Text()),
  limits: Type.Object({ workers: Count(), memory_mb: Count(), concurrency: Count(),
    run_timeout_s: Count(), body_mb: Count(),
    requests: Nullable(Type.Object({ count: Count(), interval_s: Count() })) }),
  record: Nullable(Text()),
  paused: Type.Boolean(),
  active: Nullable(Text()),
  previous: Nullable(Text()),
  next: Next,
  env_version: Count(),
  rollout: Nullable(Rollout),
  last_rollout: Nullable(RolloutOutcome),
  kept_secrets: Type.Array(Text(), {
    description: 'Names of secrets that the next roll-out sets or removes.',
  }),
  problems: Type.Array(
    Type.Object({ member: Text(), revision: Text(), reason: Text(), since: Time(),
      serves_some: Type.Boolean({ description: 'True if other graphs of it can be executed.' }) }),
    { description: 'Revisions that take new runs, and that a member has tried to load in vain.' },
  ),
  preview: Nullable(Type.Object({ of: Text(), label: Text(), ttl_s: Type.Number() })),
  created_at: Time(),
  updated_at: Time(),
}, { $id: 'Deployment', description: 'The deployment.' })

export const createDeployment = operation('POST', '/control/v1/deployments', {
  access: 'deploy',
  summary: 'Create a deployment',
  body: Type.Object({
    name: DeploymentName(),
    ...settings,
    preview: Type.Optional(Type.Object({
      of: DeploymentName(),
      label: DeploymentName(),
      ttl_s: Whole(60, 31_536_000, { description: 'It goes when it was not used for so long.' }),
    })),
  }, { examples: [{ name: 'shop' }] }),
  answer: Deployment,
  status: 201,
})

export const listDeployments = operation('GET', '/control/v1/deployments', {
  access: 'deploy',
  summary: 'List the deployments of the tenant by name',
  query: PageOf,
  answer: Type.Object({ deployments: Type.Array(Deployment) }, { $id: 'Deployments',
    description: 'Deployments by name.' }),
})

export const getDeployment = operation('GET', '/control/v1/deployments/:deployment', {
  access: 'deploy',
  summary: 'Get a deployment',
  params: DeploymentPath,
  answer: Deployment,
})

export const updateDeployment = operation('PATCH', '/control/v1/deployments/:deployment', {
  access: 'deploy',
  summary:
    'Change who may call a deployment, its hosts, limits and recording, or whether it takes runs',
  params: DeploymentPath,
  body: Change,
  answer: Deployment,
})

export const deleteDeployment = operation('DELETE', '/control/v1/deployments/:deployment', {
  access: 'deploy',
  summary: 'Remove a deployment with all of its data',
  params: DeploymentPath,
  query: Type.Object({ data: Type.Optional(OneOf(['remove'])) }),
  answer: Type.Object({ removing: Type.Boolean() }, { $id: 'Removing',
    description: 'True: it goes with all of its data.' }),
  status: 202,
})

/** A change of a deployment, as a client writes it. */
export type DeploymentBody = Value<typeof Change>
/** A deployment. */
export type ControlDeployment = Value<typeof Deployment>
