/** Commands on one shared stream: which answers count, and that none waits for another. */

import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { sendUnaryData, ServerDuplexStream } from '@grpc/grpc-js'
import { describe, expect, it, onTestFinished } from 'vitest'

import { plainValues } from '../../../../../cluster/index.ts'
import type { Member } from '../../../../../cluster/index.ts'
import { CommandStream } from '../../../../../cluster/transport/grpc/command-stream.ts'
import { ConverseRequest, ConverseResponse,
  DeliverResponse } from '../../../../../proto/gen/cluster/v1/member.ts'
import type { DeliverRequest } from '../../../../../proto/gen/cluster/v1/member.ts'
import { virtualEnv } from '../../../../support/env.ts'
import { memberThat, transportWith, until, white } from './grpc-house.ts'

type Call = ServerDuplexStream<Buffer, Buffer>

const asItIs = (bytes: Buffer) => bytes
const converse = {
  path: '/cluster.v1.MemberService/Converse',
  requestStream: true,
  responseStream: true,
  requestSerialize: asItIs,
  requestDeserialize: asItIs,
  responseSerialize: asItIs,
  responseDeserialize: asItIs,
} as const

const deliver = { ...converse, path: '/cluster.v1.MemberService/Deliver', requestStream: false,
  responseStream: false } as const
const delivered = { reply: plainValues.encode('mate'), underWay: false }

/** A member that may break the rules; `brought` is called for each command outside the stream. */
async function memberThatAnswers(answer: (call: Call, number: number) => void,
  brought = () => {}): Promise<Member> {
  const server = new Server()
  onTestFinished(() => server.forceShutdown())
  server.addService({ converse, deliver }, {
    converse: (call: Call) =>
      call.on('data', (said: Buffer) => answer(call, ConverseRequest.decode(said).number)),
    deliver: (_: unknown, reply: sendUnaryData<Buffer>) => {
      brought()
      reply(null, Buffer.from(DeliverResponse.encode(delivered).finish()))
    },
  })
  const port = await new Promise<number>((taken, failed) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? failed(error) : taken(port))
  )
  return { id: 'white', address: `127.0.0.1:${port}` }
}

function mate(number: number): Buffer {
  return Buffer.from(ConverseResponse.encode(
    { number, outcome: { $case: 'response', value: delivered } },
  ).finish())
}

describe('an answer', () => {
  it('belongs to its own command, whatever else is answered', async () => {
    const member = await memberThatAnswers((call, number) => {
      call.write(mate(number + 1_000))
      call.write(mate(number))
    })
    expect(await transportWith().deliver(member, white, 'Qh5')).toBe('mate')
  })

  it.each<[string, (call: Call, number: number) => void]>([
    ['never came, though the stream ended well', (call) => call.end()],
    ['never came, since the stream broke', (call) => void call.emit('error', new Error('broke'))],
    ['cannot be read', (call, number) => void call.write(mate(number).subarray(0, -1))],
  ])('that %s leaves the outcome ambiguous', async (_how, answer) => {
    const member = await memberThatAnswers(answer)
    await expect(transportWith().deliver(member, white, 'Qh5'))
      .rejects.toMatchObject({ code: 'internal', details: { ambiguous: true } })
  })

  it('does not wait for the answer to an earlier command', async () => {
    const held = Promise.withResolvers<string>()
    const member = await memberThat({
      ask: async (_, move) => move === 'think' ? await held.promise : move,
    })
    const transport = transportWith()
    const thinking = transport.deliver(member, white, 'think')
    expect(await transport.deliver(member, white, 'e4')).toBe('e4')
    held.resolve('Qh5')
    expect(await thinking).toBe('Qh5')
  })

  it('that is large arrives, and its command is done once', async () => {
    let received = 0
    const member = await memberThat({ ask: async () => {
      received++
      return 'x'.repeat(12 * 1024 * 1024)
    } })
    const transport = transportWith()
    const replies = await Promise.all(
      [1, 2].map((move) => transport.deliver(member, white, move)),
    )
    expect(replies.map((reply) => (reply as string).length)).toEqual(
      Array.from({ length: 2 }, () => 12 * 1024 * 1024),
    )
    expect(received).toBe(2)
  })

  it('to a large command comes by a separate call', async () => {
    const ways: string[] = []
    const member = await memberThatAnswers((call, number) => {
      ways.push('said')
      call.write(mate(number))
    }, () => ways.push('brought'))
    const transport = transportWith()
    await transport.deliver(member, white, 'x'.repeat(100_000))
    await transport.deliver(member, white, 'x'.repeat(1_000))
    expect(ways).toEqual(['brought', 'said'])
  })
})

describe('a member that goes away', () => {
  it('answers earlier commands, and later ones are certainly not done', async () => {
    const held = Promise.withResolvers<string>()
    let received = 0
    const member = await memberThat({ ask: async () => {
      received++
      return await held.promise
    } })
    const transport = transportWith()
    const said = transport.deliver(member, white, 'e4')
    await until(() => received === 1)
    const closed = member.server.close(new AbortController().signal)
    const late = transport.deliver(member, white, 'e5')
    await expect(late).rejects.toMatchObject({ code: 'unavailable' })
    held.resolve('mate')
    expect(await said).toBe('mate')
    await closed
    expect(received).toBe(1)
  })
})

describe('an answer that does not come in time', () => {
  it('leaves the outcome ambiguous, and nothing waiting', async () => {
    const env = virtualEnv()
    const commandStream = new CommandStream(env, 'white:1', { async *converse() {
      await new Promise(() => {})
      yield* []
    } })
    const said = commandStream.send({} as DeliverRequest, 5_000)
    expect(commandStream.waiting).toBe(1)
    env.advance(5_000)
    await expect(said).rejects.toMatchObject({ code: 'internal', details: { ambiguous: true } })
    expect(commandStream.waiting).toBe(0)
  })
})

describe('a command stream that broke', () => {
  it('is replaced by a new one', async () => {
    let calls = 0
    const member = await memberThatAnswers((call, number) => {
      calls++
      if (calls === 1) call.end()
      else call.write(mate(number))
    })
    const transport = transportWith()
    await expect(transport.deliver(member, white, 'e4')).rejects.toMatchObject({ code: 'internal' })
    expect(await transport.deliver(member, white, 'e4')).toBe('mate')
  })
})
