/** Commands said on one stream: what an answer is and what is none, and who waits for whom. */

import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { ServerDuplexStream } from '@grpc/grpc-js'
import { describe, expect, it } from 'vitest'

import { plainValues } from '../../../cluster/index.ts'
import type { Member } from '../../../cluster/index.ts'
import { ConverseRequest, ConverseResponse } from '../../../proto/gen/cluster/v1/member.ts'
import { atEnd, memberThat, transportWith, until, white } from './grpc-house.ts'

type Call = ServerDuplexStream<Buffer, Buffer>

const asItIs = (bytes: Buffer) => bytes
const converse = {
  path: '/cluster.v1.MemberService/Converse', requestStream: true, responseStream: true,
  requestSerialize: asItIs, requestDeserialize: asItIs,
  responseSerialize: asItIs, responseDeserialize: asItIs,
} as const

/** One that keeps less to the rules than ours do. */
async function memberThatAnswers(answer: (call: Call, number: number) => void): Promise<Member> {
  const server = new Server()
  atEnd(() => server.forceShutdown())
  server.addService({ converse }, { converse: (call: Call) => call.on('data', (said: Buffer) =>
    answer(call, ConverseRequest.decode(said).number)) })
  const port = await new Promise<number>((taken, failed) => server.bindAsync('127.0.0.1:0',
    ServerCredentials.createInsecure(), (error, port) => error ? failed(error) : taken(port)))
  return { id: 'white', address: `127.0.0.1:${port}` }
}

function mate(number: number): Buffer {
  const value = { reply: plainValues.encode('mate'), underWay: false }
  return Buffer.from(ConverseResponse.encode(
    { number, outcome: { $case: 'response', value } }).finish())
}

describe('an answer', () => {
  it('is that to the own command, whatever else is answered', async () => {
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
  ])('that %s leaves it open what was done', async (_how, answer) => {
    const member = await memberThatAnswers(answer)
    await expect(transportWith().deliver(member, white, 'Qh5'))
      .rejects.toMatchObject({ code: 'internal', facts: { ambiguous: true } })
  })

  it('comes in its time also where the one to an earlier command does not', async () => {
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

  it('and a command that are large are not lost, and what they ask for is done once', async () => {
    let heard = 0
    const member = await memberThat({ ask: async (_, command) => {
      heard++
      return command === 'large' ? 'x'.repeat(3 * 1024 * 1024) : (command as string).length
    } })
    const transport = transportWith()
    const [large, length] = await Promise.all([transport.deliver(member, white, 'large'),
      transport.deliver(member, white, 'x'.repeat(1024 * 1024))])
    expect([(large as string).length, length]).toEqual([3 * 1024 * 1024, 1024 * 1024])
    expect(heard).toBe(2)
  })
})

describe('a member that goes away', () => {
  it('answers what was said, and what comes after that was certainly not heard', async () => {
    const held = Promise.withResolvers<string>()
    let heard = 0
    const member = await memberThat({ ask: async () => { heard++; return await held.promise } })
    const transport = transportWith()
    const said = transport.deliver(member, white, 'e4')
    await until(() => heard === 1)
    const closed = member.server.close(new AbortController().signal)
    const late = transport.deliver(member, white, 'e5')
    await expect(late).rejects.toMatchObject({ code: 'unavailable' })
    held.resolve('mate')
    expect(await said).toBe('mate')
    await closed
    expect(heard).toBe(1)
  })
})

describe('a conversation that broke', () => {
  it('is followed by another one', async () => {
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
