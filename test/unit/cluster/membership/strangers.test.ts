/** The services of members are for members only: an API key opens none of them. */

import { Client, credentials, Metadata } from '@grpc/grpc-js'
import type { ServiceError } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { protocolVersion, systemEnv } from '../../../../cluster/index.ts'
import type { GrpcServer } from '../../../../cluster/index.ts'
import { openGrpcServer } from '../../../../cluster/transport/grpc/server.ts'
import { MemberServiceDefinition } from '../../../../proto/gen/cluster/v1/member.ts'
import { HealthDefinition } from '../../../../proto/gen/grpc/health/v1/health.ts'

const secret = 'the secret of the members'.replaceAll(' ', '-')
const key = `hdl_us_0123456789abcdef_${'k'.repeat(43)}`

const paths = [
  ...[MemberServiceDefinition, HealthDefinition].flatMap(({ fullName, methods }) =>
    Object.values(methods).map(({ name }) => `/${fullName}/${name}`)
  ),
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
  '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
]

let server: GrpcServer
let client: Client

beforeAll(async () => {
  server = await openGrpcServer({
    env: systemEnv({ level: 'silent' }),
    id: 'white',
    trust: { secret },
    kinds: [],
    identity: { cluster: 'chess', version: protocolVersion },
    host: '127.0.0.1',
  })
  server.serve({ ask: async () => null, follow: async () => () => {} })
  client = new Client(server.address, credentials.createInsecure())
})

afterAll(async () => {
  client.close()
  await server.close(AbortSignal.abort())
})

/** The gRPC status of an empty call. */
function statusOf(path: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  const as = (bytes: Buffer) => bytes
  return new Promise((found) => {
    const call = client.makeBidiStreamRequest(path, as, as, metadata)
    call.on('data', () => {})
    call.on('error', ({ code }: ServiceError) => found(code))
    call.on('end', () => found(0))
    call.end(Buffer.alloc(0))
  })
}

describe('a member', () => {
  it.each(paths)('refuses a caller without its secret on %s', async (path) => {
    const unauthenticated = 16
    expect(await statusOf(path, {})).toBe(unauthenticated)
    expect(await statusOf(path, { 'x-api-key': key })).toBe(unauthenticated)
    expect(await statusOf(path, { authorization: `Bearer ${key}` })).toBe(unauthenticated)
    expect(await statusOf(path, { authorization: key, 'x-user-id': 'ann' })).toBe(unauthenticated)
  })

  it('answers a caller with its secret', async () => {
    const status = await statusOf(`/${HealthDefinition.fullName}/Check`, {
      authorization: `Bearer ${secret}`,
    })
    expect(status).toBe(0)
  })
})
