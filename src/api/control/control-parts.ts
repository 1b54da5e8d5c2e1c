/** Parts of requests that the operations of deployments share. */

import { Type } from 'typebox'
import type { TSchemaOptions } from 'typebox'

import { Limit, Offset } from '../json.ts'

/** MiB that the body of a request to a deployment may have at most. */
export const bodyMbMax = 25

/** Schema of a whole number. */
export const Whole = (minimum: number, maximum: number, options: TSchemaOptions = {}) =>
  Type.Integer({ minimum, maximum, ...options })

/** Schema of the name of a deployment. */
export const DeploymentName = () =>
  Type.String({ pattern: '^[a-z0-9-]{1,63}$', description: 'A DNS label in small letters.' })

/** Schema of the name of a revision. */
export const RevisionName = (options: TSchemaOptions = {}) =>
  Type.String({ pattern: '^r[1-9][0-9]{0,8}$', examples: ['r12'], ...options })

/** Schema of a SHA-256 in hex. */
export const Sha256 = () => Type.String({ pattern: '^[0-9a-f]{64}$' })

/** Schema of what is said of a change. */
export const Message = () =>
  Type.Optional(
    Type.String({ maxLength: 1_000, description: 'What it is for, as people read it later.' }),
  )

/** The path of a deployment. */
export const DeploymentPath = Type.Object({ deployment: DeploymentName() })

/** The path of a revision. */
export const RevisionPath = Type.Object({ deployment: DeploymentName(), revision: RevisionName() })

/** The path of a chunk. */
export const ChunkPath = Type.Object({ ...RevisionPath.properties, sha256: Sha256() })

/** Page of a list. */
export const PageOf = Type.Object({ limit: Type.Optional(Limit()),
  offset: Type.Optional(Offset()) })
