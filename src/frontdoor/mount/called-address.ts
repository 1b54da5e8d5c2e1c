/** The address by which a client called: the origin, and the path before any prefix was cut. */

import type { FastifyRequest } from 'fastify'

import { outerPath } from '../http/caller.ts'
import { calledAuthority } from './host-names.ts'
import type { MountParts } from './mount-parts.ts'
import { origin } from './target.ts'

/** Tells which requests come from a proxy whose headers are believed. */
export type FromProxy = NonNullable<MountParts['isFromProxy']>

/** The origin. Only proxies may say that it was another one. */
export function calledOrigin(request: FastifyRequest,
  isFromProxy: FromProxy = () => false): string {
  const authority = calledAuthority(request, isFromProxy)
  const host = URL.parse(`http://${authority}`)?.host ?? ''
  return `${schemeOf(request, isFromProxy)}://${host}`
}

function schemeOf(request: FastifyRequest, isFromProxy: FromProxy): string {
  const forwarded = request.headers['x-forwarded-proto']
  const said = String(forwarded ?? '').split(',').at(-1)!.trim().toLowerCase()
  const isBelieved = (said === 'http' || said === 'https') && isFromProxy(request)
  return isBelieved ? said : request.protocol
}

/** The path; undefined for one that cannot stand in an answer as it is. */
export function calledPath({ originalUrl }: Pick<FastifyRequest, 'originalUrl'>):
  | string
  | undefined {
  const [path = ''] = originalUrl.replace(origin, '').split(/[?#]/, 1)
  return /^(?:\/[\w.~%!$&'()*+,;=:@-]+)+\/?$/.test(path) ? path.replace(/\/$/, '') : undefined
}

/** The path by which clients reach a route of a project: below its deployment and its prefix. */
export function mountedPath(request: FastifyRequest, path: string): string {
  return outerPath(request, (request.projectHttp.mount_prefix ?? '') + path)
}
