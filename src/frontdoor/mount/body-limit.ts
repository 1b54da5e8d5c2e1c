/** The length of bodies: a deployment may take shorter ones than the server does. */

import { Transform } from 'node:stream'
import type { Readable } from 'node:stream'

import type { FastifyRequest } from 'fastify'

import { bodyMbMax } from '../../api/index.ts'
import type { Deployment } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import { announcedLength } from '../http/body-quota.ts'
import type { App } from '../http/route.ts'
import { isTypedCall } from './data-routes.ts'

const mebibyte = 1024 * 1024

/** Bytes that a body may have; Infinity for a deployment that takes what the server takes. */
export function bodyBytesMaxOf({ limits: { body_mb: mb } }: Pick<Deployment, 'limits'>): number {
  return mb < bodyMbMax ? mb * mebibyte : Infinity
}

/** Throws `too_large` for a body that says how long it is. Nothing of it is read. */
export function requireShortBody({ raw }: FastifyRequest, bytesMax: number): void {
  if ((announcedLength(raw) ?? 0) > bytesMax) throw bodyTooLarge(bytesMax)
}

/** The error of a body that is too long for a deployment. */
export function bodyTooLarge(bytesMax: number): HeddleError {
  return new HeddleError('too_large',
    `The body is longer than ${bytesMax / mebibyte} MB, which is ` +
      'the limit of the deployment.')
}

/** Counts bodies that do not say how long they are. Those of typed calls are counted there. */
export function countBodies(app: App): void {
  app.addHook('preParsing', ({ raw, deployment, routeOptions }, _reply, payload, done) => {
    const { bodyBytesMax = Infinity } = deployment ?? {}
    const isCounted = bodyBytesMax < Infinity && announcedLength(raw) === undefined &&
      !isTypedCall(routeOptions.url)
    done(null, isCounted ? counted(payload, bodyBytesMax) : payload)
  })
}

function counted(payload: Readable, bytesMax: number): Readable {
  let bytes = 0
  const body = new Transform({ transform: (chunk: Buffer, _, done) => {
    bytes += chunk.length
    if (bytes > bytesMax) done(bodyTooLarge(bytesMax))
    else done(null, chunk)
  } })
  // The rest is read and dropped, so that a client that still sends sees the answer.
  body.once('error', () => payload.unpipe(body).resume())
  payload.once('error', (error) => body.destroy(error))
  return payload.pipe(body)
}
