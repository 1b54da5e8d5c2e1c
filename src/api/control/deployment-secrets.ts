/** Secrets of deployments. Values come in and never go out. */

import { Type } from 'typebox'

import { DeploymentName, DeploymentPath } from './control-parts.ts'
import { OneOf, Text, Time } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'
import { EitherRollout, RolloutOfChange } from './rollouts.ts'

const SecretPath = Type.Object({ deployment: DeploymentName(),
  name: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$' }) })
const restart = Type.Optional(
  Type.Boolean({ default: true, description: 'False to keep the change for the next roll-out.' }),
)
const SecretValue = Text(65_536)

const Secret = Type.Object({
  name: Text(),
  version: Type.Integer(),
  updated_at: Time(),
  state: OneOf(['in_use', 'kept', 'removed'], {
    description:
      'Whether the code has it, or the next roll-out brings this value or takes it away.',
  }),
})

export const listSecrets = operation('GET', '/control/v1/deployments/:deployment/secrets', {
  access: 'deploy',
  summary: 'List the names of the secrets of a deployment',
  params: DeploymentPath,
  answer: Type.Object({ secrets: Type.Array(Secret), env_version: Type.Integer() }, {
    $id: 'Secrets',
    description: 'Names of secrets, never their values.',
  }),
})

export const setSecret = operation('PUT', '/control/v1/deployments/:deployment/secrets/:name', {
  access: 'deploy',
  summary: 'Set a secret: it counts when the active revision has loaded it',
  params: SecretPath,
  body: Type.Object({ value: SecretValue, restart }, { examples: [{ value: 'the key' }] }),
  answer: Type.Object({ ...Secret.properties, rollout: EitherRollout }, {
    $id: 'Secret',
    description: 'The secret, without its value.',
  }),
})

export const setSecrets = operation('PUT', '/control/v1/deployments/:deployment/secrets', {
  access: 'deploy',
  summary: 'Set and remove several secrets as one version, which counts when the active revision ' +
    'has loaded it',
  params: DeploymentPath,
  body: Type.Object({
    values: Type.Record(Type.String(), SecretValue, { maxProperties: 100 }),
    remove: Type.Optional(
      Type.Array(Text(100), { maxItems: 100, description: 'Names of those that go.' }),
    ),
    restart,
  }, { examples: [{ values: { MODEL_KEY: 'the key' } }] }),
  answer: RolloutOfChange,
})

export const deleteSecret = operation('DELETE', '/control/v1/deployments/:deployment/secrets/:name',
  {
    access: 'deploy',
    summary: 'Remove a secret: it is gone when the active revision was loaded without it',
    params: SecretPath,
    query: Type.Object({ restart }),
    answer: RolloutOfChange,
  })

/** A secret, never with its value. */
export type ControlSecret = Value<typeof Secret>
/** The roll-out that a change of secrets has begun. */
export type ControlChange = Value<typeof RolloutOfChange>
