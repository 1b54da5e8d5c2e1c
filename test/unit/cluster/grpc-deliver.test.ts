/** What a reply is and what is none, from a member that keeps less to the rules than ours do. */

import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { ServerWritableStream } from '@grpc/grpc-js'
import { describe, expect, it } from 'vitest'

import { plainValues } from '../../../cluster/index.ts'
import type { Member } from '../../../cluster/index.ts'
import { DeliverResponse } from '../../../proto/gen/cluster/v1/member.ts'
import { atEnd, transportWith, white } from './grpc-house.ts'

type Call = ServerWritableStream<Buffer, Buffer>

const asItIs = (bytes: Buffer) => bytes
const deliver = {
  path: '/cluster.v1.MemberService/Deliver', requestStream: false, responseStream: true,
  requestSerialize: asItIs, requestDeserialize: asItIs,
  responseSerialize: asItIs, responseDeserialize: asItIs,
} as const

async function memberThatAnswers(answer: (call: Call) => void): Promise<Member> {
  const server = new Server()
  atEnd(() => server.forceShutdown())
  server.addService({ deliver }, { deliver: answer })
  const port = await new Promise<number>((taken, failed) => server.bindAsync('127.0.0.1:0',
    ServerCredentials.createInsecure(), (error, port) => error ? failed(error) : taken(port)))
  return { id: 'white', address: `127.0.0.1:${port}` }
}

const mate = Buffer.from(DeliverResponse.encode(
  { reply: plainValues.encode('mate'), underWay: false }).finish())

describe('a reply', () => {
  it('is there with its message, however late the end of the call is', async () => {
    const member = await memberThatAnswers((call) => void call.write(mate))
    expect(await transportWith().deliver(member, white, 'Qh5')).toBe('mate')
  })

  it('that never came leaves it open what was done, though the call ended well', async () => {
    const member = await memberThatAnswers((call) => call.end())
    await expect(transportWith().deliver(member, white, 'Qh5'))
      .rejects.toMatchObject({ code: 'internal', facts: { ambiguous: true } })
  })

  it('that cannot be read leaves it open what was done', async () => {
    const member = await memberThatAnswers((call) => void call.write(mate.subarray(0, -1)))
    await expect(transportWith().deliver(member, white, 'Qh5'))
      .rejects.toMatchObject({ code: 'internal', facts: { ambiguous: true } })
  })
})
