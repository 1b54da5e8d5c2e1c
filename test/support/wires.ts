/** The protocols of the typed API, by name, with the transport of each. */

import type { Transport } from '@connectrpc/connect'
import { createConnectTransport, createGrpcTransport,
  createGrpcWebTransport } from '@connectrpc/connect-node'

/** Name and transport of each protocol. */
export const wires: [string, (baseUrl: string) => Transport][] = [
  ['Connect on HTTP/1.1', (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1' })],
  ['Connect on HTTP/2', (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '2' })],
  ['gRPC-Web on HTTP/1.1', (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1' })],
  ['gRPC-Web on HTTP/2', (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '2' })],
  ['gRPC', (baseUrl) => createGrpcTransport({ baseUrl })],
]
