/** Errors between members: known ones arrive, unknown ones are understood. */

import { once } from 'node:events'
import { connect } from 'node:http2'

import { Metadata, ServerError, Status } from 'nice-grpc-common'
import { describe, expect, it, onTestFinished } from 'vitest'

import { ClusterError } from '../../../../../cluster/errors.ts'
import { errorFromDetail, errorFromWire, errorToDetail,
  wayFailed } from '../../../../../cluster/transport/grpc/error-trailer.ts'
import { openGrpcServer } from '../../../../../cluster/transport/grpc/server.ts'
import { ErrorDetail } from '../../../../../proto/gen/cluster/v1/member.ts'
import { HeddleError } from '../../../../../src/errors.ts'
import { virtualEnv } from '../../../../support/env.ts'
import { identity, env, kinds, memberThat, transportWith, trust, white } from './grpc-house.ts'

const trailer = (detail: Partial<ErrorDetail>) =>
  Metadata().set('heddle-error-bin',
    ErrorDetail.encode({ code: 'internal', message: '', detailsJson: '', ...detail }).finish())

describe('an error from another member', () => {
  it('of a newer version with an unknown code keeps its sentence', () => {
    expect(errorFromWire(trailer({ code: 'adjourned', message: 'Come back tomorrow.' })))
      .toMatchObject({ code: 'internal', message: 'Come back tomorrow.', details: {} })
  })

  it('loses only details that cannot be serialized', () => {
    const { log } = virtualEnv()
    expect(errorToDetail(log, new HeddleError('busy', 'Wait.', { at: 1n }))).toEqual(
      { code: 'busy', message: 'Wait.', detailsJson: '' },
    )
  })

  it('has the same bytes as in the version before', () => {
    const { log } = virtualEnv()
    const owner = { id: 'black', address: 'there:1' }
    const sent = [
      new ClusterError('not_owner', undefined, { owner, epoch: 3 }),
      new ClusterError('internal', 'Unknown.', { ambiguous: true }),
      new ClusterError('unavailable', 'Another cluster.', { distrust: 'dialect' }),
    ].map((error) => errorToDetail(log, error))
    expect(sent).toEqual([
      { code: 'not_owner', message: 'Another member owns this.',
        detailsJson: '{"owner":{"id":"black","address":"there:1"},"epoch":3}' },
      { code: 'internal', message: 'Unknown.', detailsJson: '{"ambiguous":true}' },
      { code: 'unavailable', message: 'Another cluster.', detailsJson: '{"distrust":"dialect"}' },
    ])
    expect(sent.map((detail) => errorFromDetail(detail).outcome))
      .toEqual(['not_done', 'maybe_done', 'not_done'])
  })

  it('is undefined if the trailer is missing', () => {
    expect(errorFromWire(undefined)).toBeUndefined()
    expect(errorFromWire(Metadata())).toBeUndefined()
  })
})

describe('a call that failed on the way', () => {
  it('is ambiguous unless the other side refused to look at it', () => {
    for (const [code, certain] of [[Status.UNAUTHENTICATED, true], [Status.UNIMPLEMENTED, true], [
      Status.UNAVAILABLE,
      false,
    ], [Status.UNKNOWN, false], [Status.CANCELLED, false], [Status.DEADLINE_EXCEEDED, false], [
      Status.RESOURCE_EXHAUSTED,
      false,
    ]] as const) {
      const error = wayFailed('there:1', new ServerError(code, ''))
      expect([error.code === 'unavailable', error.details['ambiguous'] ?? false])
        .toEqual([certain, !certain])
    }
  })
})

describe('a member that cannot listen', () => {
  it('throws the reason in one sentence', async () => {
    const { address } = await memberThat({})
    const open = (host: string, port: number) =>
      openGrpcServer({ env, id: 'black', identity, trust, kinds, host, port })
    await expect(open('127.0.0.1', Number(address.split(':')[1]))).rejects.toMatchObject(
      { code: 'unavailable', message: `The member address ${address} is in use: each member ` +
        'needs an address of its own.' },
    )
    await expect(open('192.0.2.1', 1)).rejects.toMatchObject(
      { message: 'The member address 192.0.2.1:1 is no address of this machine.' },
    )
  })
})

describe('incompatible members', () => {
  it('leave one line per ten seconds in the log of a member that has joined', async () => {
    const clock = virtualEnv()
    const member = await memberThat({}, { env: clock })
    const outsider = transportWith({ trust: {} })
    const knock = () => outsider.deliver(member, white, 'e4').catch(() => {})
    await knock()
    expect(clock.lines).toHaveLength(0)
    member.server.belongs()
    for (let times = 0; times < 5; times++) await knock()
    expect(clock.lines).toHaveLength(1)
    clock.advance(10_000)
    await knock()
    expect(clock.lines).toHaveLength(2)
  })

  it('are refused by their headers, before they have sent what they ask', async () => {
    const { address } = await memberThat({})
    const session = connect(`http://${address}`)
    onTestFinished(() => session.destroy())
    const call = session.request({ ':method': 'POST', ':path': '/cluster.v1.MemberService/Deliver',
      'content-type': 'application/grpc', te: 'trailers', authorization: 'Bearer stranger' })
    // The beginning of a message of 60 MB, whose rest never comes.
    call.write(Buffer.from([0, 0x03, 0x93, 0x87, 0x00, 1, 2, 3]))
    const [headers] = await once(call, 'response')
    expect(headers).toMatchObject({ 'grpc-status': '16', 'grpc-message': 'unauthenticated' })
  })
})
