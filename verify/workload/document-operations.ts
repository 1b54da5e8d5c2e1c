/** Operations on documents of a client: an example, a prompt, a queue item and a shared link. */

import { randomUUID } from 'node:crypto'

import type { Operation, Scene } from './operation.ts'
import type { KnownDocument, Reply, Request } from './session.ts'

type Sent = Pick<Request, 'method' | 'path' | 'body'>

/** Sends a request of the platform about a document. */
function sendDocument(operation: string, { session, client }: Scene, documentId: string,
  { path, ...request }: Sent): Promise<Reply> {
  return session.call(client.number, { operation, documentId, path: `/api/v1${path}`, ...request },
    client.signal)
}

function keyOf(kind: string, { client }: Scene): string {
  return `${kind} ${client.number}`
}

/** An operation that creates the document of a kind, if the client has none. */
function creates(kind: string, weight: number,
  create: (scene: Scene) => Promise<KnownDocument | undefined>): Operation {
  return {
    name: `${kind}.create`,
    weight,
    async execute(scene) {
      const { documents } = scene.session
      if (documents.has(keyOf(kind, scene))) return
      const document = await create(scene)
      if (document !== undefined) documents.set(keyOf(kind, scene), document)
    },
  }
}

interface OnDocument {
  readonly name: string
  readonly weight: number
  /** True if it deletes the document. */
  readonly deletes?: boolean
  readonly toRequest: (document: KnownDocument, token: string) => Sent
}

/** An operation on the document of a kind, which no other client changes. */
function onDocument(kind: string, { name, weight, deletes, toRequest }: OnDocument): Operation {
  return {
    name: `${kind}.${name}`,
    weight,
    async execute(scene) {
      const { session } = scene
      const document = session.documents.get(keyOf(kind, scene))
      if (document === undefined) return
      if (deletes) session.documents.delete(keyOf(kind, scene))
      await sendDocument(`${kind}.${name}`, scene, document.id,
        toRequest(document, session.createToken()))
    },
  }
}

function idIn({ status, response }: Reply): string | undefined {
  return status === 200 ? (response as { id: string }).id : undefined
}

/** Creates an example in a dataset of its own. */
const createExample = creates('example', 2, async (scene) => {
  const { session } = scene
  const [id, token] = [randomUUID(), session.createToken()]
  const dataset = idIn(
    await sendDocument('dataset.create', scene, id, { method: 'POST', path: '/datasets',
      body: { name: `verify ${token}` } }),
  )
  if (dataset === undefined) return undefined
  await sendDocument('example.create', scene, id, { method: 'POST', path: '/examples',
    body: { id, dataset_id: dataset, inputs: { token } } })
  return { id, parent: dataset }
})

const exampleOperations: readonly Operation[] = [
  createExample,
  onDocument('example', { name: 'get', weight: 2,
    toRequest: ({ id }) => ({ method: 'GET', path: `/examples/${id}` }) }),
  onDocument('example', { name: 'list', weight: 2,
    toRequest: ({ parent }) => ({ method: 'GET', path: `/examples?dataset=${parent}` }) }),
  onDocument('example', { name: 'update', weight: 2, toRequest: ({ id }, token) => (
    { method: 'PATCH', path: `/examples/${id}`, body: { inputs: { token } } }
  ) }),
  onDocument('example', { name: 'delete', weight: 0.4, deletes: true,
    toRequest: ({ id }) => ({ method: 'DELETE', path: `/examples/${id}` }) }),
]

const createPrompt = creates('prompt', 1, async (scene) => {
  const id = `verify-${scene.session.createToken()}`
  const { status } = await sendDocument('prompt.create', scene, id, { method: 'POST',
    path: '/repos', body: { repo_handle: id, is_public: false } })
  return status === 200 ? { id, parent: '-' } : undefined
})

const promptOperations: readonly Operation[] = [
  createPrompt,
  onDocument('prompt', { name: 'commit', weight: 2, toRequest: ({ id }, token) => (
    { method: 'POST', path: `/commits/-/${id}`, body: { manifest: { token } } }
  ) }),
  onDocument('prompt', { name: 'pull', weight: 2,
    toRequest: ({ id }) => ({ method: 'GET', path: `/commits/-/${id}/latest` }) }),
  onDocument('prompt', { name: 'delete', weight: 0.3, deletes: true,
    toRequest: ({ id }) => ({ method: 'DELETE', path: `/repos/-/${id}` }) }),
]

/** Creates a queue for the newest span of the client. */
const createQueue = creates('queue', 1, async (scene) => {
  const { session, client } = scene
  const span = session.spans.get(client.number)
  if (span === undefined) return undefined
  const queue = idIn(
    await sendDocument('queue.create', scene, span.id, { method: 'POST', path: '/annotation-queues',
      body: { name: `verify ${session.createToken()}` } }),
  )
  return queue === undefined ? undefined : { id: span.id, parent: queue }
})

const queueOperations: readonly Operation[] = [
  createQueue,
  onDocument('queue', { name: 'add', weight: 2, toRequest: ({ id, parent }) => (
    { method: 'POST', path: `/annotation-queues/${parent}/runs`, body: [id] }
  ) }),
  onDocument('queue', { name: 'list', weight: 2,
    toRequest: ({ parent }) => ({ method: 'GET', path: `/annotation-queues/${parent}/runs` }) }),
  onDocument('queue', { name: 'remove', weight: 0.7, toRequest: ({ id, parent }) => (
    { method: 'DELETE', path: `/annotation-queues/${parent}/runs/${id}` }
  ) }),
  onDocument('queue', { name: 'delete', weight: 0.4, deletes: true,
    toRequest: ({ parent }) => ({ method: 'DELETE', path: `/annotation-queues/${parent}` }) }),
]

/** Creates a link with which everybody reads the newest span of the client. */
const createShare = creates('share', 1.5, async (scene) => {
  const span = scene.session.spans.get(scene.client.number)
  if (span === undefined) return undefined
  const { status, response } = await sendDocument('share.create', scene, span.id, { method: 'PUT',
    path: `/runs/${span.id}/share`, body: {} })
  if (status !== 200) return undefined
  return { id: span.id, parent: (response as { share_token: string }).share_token }
})

const shareOperations: readonly Operation[] = [
  createShare,
  onDocument('share', { name: 'read', weight: 2,
    toRequest: ({ parent }) => ({ method: 'GET', path: `/public/${parent}/run` }) }),
  {
    name: 'share.delete',
    weight: 0.7,
    async execute(scene) {
      const { documents } = scene.session
      const share = documents.get(keyOf('share', scene))
      if (share === undefined) return
      documents.delete(keyOf('share', scene))
      await sendDocument('share.delete', scene, share.id, { method: 'DELETE',
        path: `/runs/${share.id}/share` })
      await sendDocument('share.read', scene, share.id, { method: 'GET',
        path: `/public/${share.parent}/run` })
    },
  },
]

export const documentOperations: readonly Operation[] = [...exampleOperations, ...promptOperations,
  ...queueOperations, ...shareOperations]
