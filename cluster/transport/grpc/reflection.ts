/** Describes the services of this member to tools such as grpcurl, in both reflection protocols. */

import { readFileSync } from 'node:fs'

import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader'
import { ReflectionService } from '@grpc/reflection'
import type { Server } from 'nice-grpc'

/** The call that the reflection library answers, as far as it uses it. */
interface AskingStream {
  on(event: 'data' | 'end', handle: (request: unknown) => void): void
  write(answer: unknown): void
  end(): void
}

const descriptors = new URL('../../../proto/gen/cluster/descriptors.binpb', import.meta.url)

/** Lets tools list the services and their messages. */
export function addReflection(server: Pick<Server, 'add'>): void {
  const spoken = loadFileDescriptorSetFromBuffer(readFileSync(descriptors))
  new ReflectionService(spoken).addToServer({
    addService: (definition: ServiceDefinition, handlers: UntypedServiceImplementation) => {
      const handle = handlers['ServerReflectionInfo'] as unknown as (stream: AskingStream) => void
      server.add(definition, {
        ServerReflectionInfo: (requests: AsyncIterable<unknown>) => answersOf(handle, requests),
      })
    },
  })
}

/** The library answers each question at once, so a fake stream can stand for the real one. */
async function* answersOf(handle: (stream: AskingStream) => void,
  requests: AsyncIterable<unknown>): AsyncGenerator<unknown> {
  for await (const request of requests) {
    const answers: unknown[] = []
    handle({
      on: (event, handle) => {
        if (event === 'data') handle(request)
      },
      write: (answer) => void answers.push(answer),
      end: () => {},
    })
    yield* answers
  }
}
