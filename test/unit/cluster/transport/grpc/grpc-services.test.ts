/** What standard tools ask a member: its health, and its services. */

import { Metadata, credentials, loadPackageDefinition } from '@grpc/grpc-js'
import type { ServiceClientConstructor } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { createChannel, createClient } from 'nice-grpc'
import { Metadata as Headers } from 'nice-grpc-common'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'

import { openGrpcServer } from '../../../../../cluster/transport/grpc/server.ts'
import { HealthDefinition } from '../../../../../proto/gen/grpc/health/v1/health.ts'
import { identity, env, kinds, memberThat, trust } from './grpc-house.ts'

const secret = `Bearer ${trust.secret}`

function healthOf(address: string, authorization = secret) {
  const channel = createChannel(address)
  onTestFinished(() => channel.close())
  const metadata = Headers({ authorization })
  return createClient(HealthDefinition, channel, { '*': { metadata } })
}

describe('health', () => {
  it('says whether the member serves, by check and by watch', async () => {
    const server = await openGrpcServer({ env, id: 'white', identity, trust, kinds,
      host: '127.0.0.1' })
    const health = healthOf(server.address)
    const seen: string[] = []
    const watching = (async () => {
      for await (const { status } of health.watch({})) {
        seen.push(String(status))
        if (seen.length === 1) {
          expect(await health.check({})).toEqual({ status })
          server.serve({ ask: async () => null, follow: async () => () => {} })
        } else if (seen.length === 2) {
          expect(await health.check({ service: 'cluster.v1.MemberService' })).toEqual({ status })
          void server.close(new AbortController().signal)
        }
      }
    })()
    await watching
    const [begins, serves, ends] = seen
    expect(seen).toHaveLength(3)
    expect(begins).toBe(ends)
    expect(serves).not.toBe(begins)
  })

  it('refuses unknown services and callers without trust', async () => {
    const { address } = await memberThat({})
    await expect(healthOf(address).check({ service: 'chess' })).rejects.toMatchObject({ code: 5 })
    await expect(healthOf(address, 'Bearer me').check({})).rejects
      .toMatchObject({ code: 16, details: 'unauthenticated' })
  })
})

/** Asks one question as grpcurl does, in one of the two versions that tools use. */
function reflect(address: string, version: 'v1' | 'v1alpha',
  question: object): Promise<Record<string, never>> {
  const home = dirname(createRequire(import.meta.url).resolve('@grpc/reflection'))
  const proto = join(home, `../proto/grpc/reflection/${version}/reflection.proto`)
  const loaded = loadPackageDefinition(loadSync(proto, { oneofs: true })) as unknown as {
    grpc: { reflection: Record<string, { ServerReflection: ServiceClientConstructor }> }
  }
  const client = new loaded.grpc.reflection[version]!.ServerReflection(address,
    credentials.createInsecure())
  onTestFinished(() => client.close())
  const metadata = new Metadata()
  metadata.set('authorization', secret)
  const stream = client['ServerReflectionInfo']!(metadata)
  return new Promise((resolve, reject) => {
    stream.on('data', (answer: Record<string, never>) => {
      resolve(answer)
      stream.end()
    })
    stream.on('error', reject)
    stream.write(question)
  })
}

describe('reflection', () => {
  it('lists the services of a member in both versions', async () => {
    const { address } = await memberThat({})
    for (const version of ['v1', 'v1alpha'] as const) {
      const { listServicesResponse } = await reflect(address, version, { listServices: '*' })
      expect(listServicesResponse).toMatchObject({ service: expect.arrayContaining([
        { name: 'cluster.v1.MemberService' },
        { name: 'grpc.health.v1.Health' },
      ]) })
      const { fileDescriptorResponse } = await reflect(address, version, {
        fileContainingSymbol: 'cluster.v1.MemberService',
      })
      const [file] = (fileDescriptorResponse as unknown as { fileDescriptorProto: Buffer[] })
        .fileDescriptorProto
      expect(file!.toString('latin1')).toContain('DeliverRequest')
    }
  })
})
