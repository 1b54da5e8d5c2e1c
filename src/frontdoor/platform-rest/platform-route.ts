/** Common code of routes of the platform: their access, their bodies, and how they answer. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { jsonOf } from '../../json/index.ts'
import type { Platform, Project, Uuid } from '../../platform/index.ts'
import { receiveBody } from '../http/received-body.ts'
import type { App, RouteParts } from '../http/route.ts'

/** Parts of which the routes of the platform are made. */
export interface PlatformParts extends Pick<RouteParts, 'ticker' | 'quotas'> {
  readonly platform: Platform
  /** The version of this server. */
  readonly version: string
  readonly region?: { readonly name: string } | undefined
  readonly env: Pick<Env, 'nowMs' | 'secret' | 'uuid7' | 'log'>
}

/** Bytes of a body that is parsed on the main thread: all that have no payload. */
const questionBytesMax = 1024 * 1024
/** Bytes of a question with images, in base64. */
const imagesBytesMax = 5 * 1024 * 1024

/** Reads bodies as JSON, whatever their type. An empty one counts as none. */
export function acceptQuestions(app: App): void {
  acceptJson(app, questionBytesMax)
}

/** The same for questions that may have images. */
export function acceptImages(app: App): void {
  acceptJson(app, imagesBytesMax)
}

function acceptJson(app: App, bodyLimit: number): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) => {
    try {
      const text = body.toString()
      done(null, text.trim() === '' ? undefined : jsonOf('The body', text))
    } catch (error) {
      done(error as Error, undefined)
    }
  })
}

/** Leaves bodies as they came: they are read in a thread of the platform. */
export function acceptBytes(app: App): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', receiveBody)
}

/** Sends JSON that a thread of the platform made. It takes room until it is read. */
export function sendBytes(reply: FastifyReply, json: Uint8Array): FastifyReply {
  const { raw, server, request } = reply
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength)
  server.unread.hold(raw, bytes, request.caller.tenant)
  return reply.type('application/json').send(bytes)
}

/** The projects with these ids that the tenant has. */
export async function projectsOf({ projects }: Platform, { caller }: Pick<FastifyRequest, 'caller'>,
  ids: readonly Uuid[]): Promise<readonly Project[]> {
  return ids.length === 0 ? [] : await projects.get(caller.tenant, ids)
}

/** The project with this id. Throws `not_found`. */
export async function projectOf(platform: Platform, request: Pick<FastifyRequest, 'caller'>,
  id: Uuid): Promise<Project> {
  const [project] = await projectsOf(platform, request, [id])
  if (project !== undefined) return project
  throw new HeddleError('not_found', 'There is no such project.')
}
