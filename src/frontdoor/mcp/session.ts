/**
 * Sessions of the revisions that have them.
 *
 * Nothing is kept for one: its id says what the client can do, so that every member knows it. The
 * random part sets apart what its calls leave.
 */

import type { Env } from '../../../cluster/index.ts'
import type { ClientAbilities } from './revision.ts'

/** A session. */
export interface Session extends ClientAbilities {
  readonly id: string
}

const form = /^([fn])-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The id of a new session of a client with these abilities. */
export function newSessionId({ answersQuestions }: ClientAbilities,
  env: Pick<Env, 'uuid'>): string {
  return `${answersQuestions ? 'f' : 'n'}-${env.uuid()}`
}

/** The session with this id; undefined for an id that this server gives nobody. */
export function sessionOf(id: string): Session | undefined {
  const [, abilities] = form.exec(id) ?? []
  return abilities === undefined ? undefined : { id, answersQuestions: abilities === 'f' }
}
