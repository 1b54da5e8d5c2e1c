/**
 * Deliver, straight on the channel: each request through another front door waits for this call.
 *
 * A reply is there when its message is. The status after it comes in a write of its own and says
 * nothing more, so nobody waits for it.
 */

import { Metadata as Headers } from '@grpc/grpc-js'
import type { Channel } from '@grpc/grpc-js'
import { ClientError, Metadata, Status } from 'nice-grpc-common'
import type { CallOptions } from 'nice-grpc-common'

import { DeliverRequest, DeliverResponse, MemberServiceDefinition }
  from '../proto/gen/cluster/v1/member.ts'

/** As a client of nice-grpc has it. */
export type Deliver = (request: DeliverRequest, options: CallOptions) => Promise<DeliverResponse>

const path = `/${MemberServiceDefinition.fullName}/${MemberServiceDefinition.methods.deliver.name}`

/** Every call carries the `introduction`. */
export function deliverBy(channel: Channel, introduction: Metadata): Deliver {
  const headers = headersOf(introduction)
  return async (request, { signal, onTrailer }) => {
    const sent = Buffer.from(DeliverRequest.encode(request).finish())
    const { promise: reply, resolve, reject } = Promise.withResolvers<Uint8Array>()
    let heard = false
    const call = channel.createCall(path, Infinity, null, null, null)
    call.start(headers, {
      onReceiveMetadata: () => {},
      onReceiveMessage: (message: Uint8Array) => {
        heard = true
        resolve(message)
      },
      onReceiveStatus: ({ code, details, metadata }) => {
        if (heard) return
        onTrailer?.(metadataOf(metadata))
        reject(new ClientError(path, code, details))
      },
    })
    signal?.addEventListener('abort', () => call.cancelWithStatus(Status.CANCELLED, 'given up'))
    call.startRead()
    call.sendMessageWithContext({}, sent)
    call.halfClose()
    return DeliverResponse.decode(await reply)
  }
}

function headersOf(metadata: Metadata): Headers {
  const headers = new Headers()
  for (const [name, values] of metadata) {
    for (const value of values) headers.add(name, value as string | Buffer)
  }
  return headers
}

function metadataOf(headers: Headers): Metadata {
  const metadata = Metadata()
  for (const name of Object.keys(headers.getMap())) metadata.set(name, headers.get(name))
  return metadata
}
