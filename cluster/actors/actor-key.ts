/** The name of an actor: its kind, its tenant, its id. It is all that is needed to reach it. */

/** Kind, tenant and id. The id is unique for its kind and tenant. */
export interface ActorKey {
  readonly kind: string
  readonly tenant: string
  readonly id: string
}

/** A text that no other key has. */
export function actorKeyText(key: ActorKey): string {
  return `${key.kind}\n${key.tenant}\n${key.id}`
}
