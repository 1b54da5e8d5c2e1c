/** Settings of the connections between members, each figure with its reason. */

import type { ChannelOptions } from '@grpc/grpc-js'

import { ClusterError } from '../../errors.ts'

const mebibyte = 1024 * 1024

/** The largest command, reply or call of a listener: more than any body that is let in. */
const messageBytesMax = 64 * mebibyte

const envelopeBytes = 64 * 1024

/** A larger command is not sent in a command stream: it would hold up other commands. */
export const saidBytesMax = 32 * 1024

/** A larger reply is not sent in one either; replies may be larger than commands. */
export const answeredBytesMax = 1024 * 1024

const limits: ChannelOptions = {
  // The default is 4 MiB.
  'grpc.max_receive_message_length': messageBytesMax + envelopeBytes,
  'grpc.max_send_message_length': messageBytesMax + envelopeBytes,
}

/** Channel options of the side that answers. */
export const serverOptions: ChannelOptions = {
  ...limits,
  // A front door that vanished leaves follows behind; this ends them.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 10_000,
}

/** Channel options of the side that calls. */
export const clientOptions: ChannelOptions = {
  ...limits,
  // The default is 64 KiB for a stream and for a whole connection: a stream of many megabytes a
  // second would wait for each round trip, and one that nobody reads would stop all others.
  'grpc-node.flow_control_window': 8 * mebibyte,
  // Callers that only wait notice within seconds that a member hangs or is cut off; the time-out
  // leaves room for a busy process, this one or the other, that only looks dead.
  'grpc.keepalive_time_ms': 2_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.keepalive_permit_without_calls': 1,
  // By default, it may take two minutes until a peer that was away is tried again.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // How long one attempt to connect may take.
  'grpc.min_reconnect_backoff_ms': 3_000,
  // Two channels to one address must be two connections.
  'grpc.use_local_subchannel_pool': 1,
  // Members are reached directly, and DNS has no settings for them.
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
}

/** Throws `too_large` if it exceeds the limit of a message. */
export function withinLimit(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= messageBytesMax) return bytes
  throw new ClusterError('too_large', `This takes ${bytes.length} bytes; members hand each other ` +
    `${messageBytesMax} at most.`)
}
