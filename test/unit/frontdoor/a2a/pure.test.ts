/** Signatures of agent cards, and what becomes of a graph's messages. */

import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'

import { canonical, cardSigner } from '../../../../src/frontdoor/a2a/card-signature.ts'
import { artifactsIn, historyIn, ofTask } from '../../../../src/frontdoor/a2a/graph-messages.ts'
import { answerIn } from '../../../../src/frontdoor/a2a/message-in.ts'
import { partsOf } from '../../../../src/frontdoor/a2a/parts-out.ts'

describe('a signature', () => {
  it('is over the canonical card, by an EC or an Ed25519 key', () => {
    const card = { name: 'a', capabilities: { streaming: true }, skills: [], description: 'é "x"' }
    expect(canonical({ b: 1, a: [{ d: null, c: 'x' }], e: undefined }))
      .toBe('{"a":[{"c":"x","d":null}],"b":1}')
    const pairs = [generateKeyPairSync('ec', { namedCurve: 'P-256' }),
      generateKeyPairSync('ed25519')]
    for (const { privateKey } of pairs) {
      const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
      const { signatures, ...rest } = cardSigner(pem)(card)
      const [{ protected: head, signature }] = signatures as [
        { protected: string; signature: string },
      ]
      const { alg, typ, kid } = JSON.parse(Buffer.from(head, 'base64url').toString())
      expect({ typ, kid: typeof kid }).toEqual({ typ: 'JOSE', kid: 'string' })
      const signed = Buffer.from(`${head}.${Buffer.from(canonical(rest)).toString('base64url')}`)
      const key = { key: createPublicKey(privateKey), dsaEncoding: 'ieee-p1363' as const }
      expect(
        verify(alg === 'EdDSA' ? null : 'sha256', signed, key, Buffer.from(signature, 'base64url')),
      ).toBe(true)
      expect(
        verify(alg === 'EdDSA' ? null : 'sha256', Buffer.from(`${String(signed)}x`), key,
          Buffer.from(signature, 'base64url')),
      ).toBe(false)
    }
    expect(() => cardSigner('nonsense')).toThrow('private key in PEM')
  })
})

describe('messages of a graph', () => {
  const messages = [{ type: 'human', id: 'h1', content: 'one' }, { type: 'ai', id: 'a1',
    content: 'first' }, { type: 'human', id: 'h2', content: 'two' }, { type: 'ai', id: 'a2',
    content: '', tool_calls: [{}] }, { type: 'tool', name: 'search', tool_call_id: 't',
    content: '{"hits":2}' }, { type: 'system', content: 'secret' }, { type: 'ai', id: 'a3',
    content: 'second' }]

  it('are results from the message of the task on, with the tools that may be seen', () => {
    const own = ofTask(messages, 'h2')
    expect(artifactsIn(own, 'task', new Set())).toEqual([{ artifactId: 'a3',
      parts: [{ text: 'second' }] }])
    expect(artifactsIn(own, 'task', new Set(['search']))).toEqual([{ artifactId: 'task-2',
      parts: [{ data: { tool: 'search', tool_call_id: 't', result: { hits: 2 } } }] }, {
      artifactId: 'a3',
      parts: [{ text: 'second' }],
    }])
    expect(ofTask(messages, 'gone')).toEqual(own)
  })

  it('are a history without what is for the model alone', () => {
    const ids = { taskId: 't', contextId: 'c' }
    const history = historyIn(messages, ids, 10, new Set())
    expect(history.map(({ role, messageId }) => [role, messageId])).toEqual([['user', 'h1'], [
      'agent',
      'a1',
    ], ['user', 'h2'], ['agent', 'a3']])
    expect(historyIn(messages, ids, 1, new Set()).map(({ messageId }) => messageId))
      .toEqual(['a3'])
  })

  it('have their blocks as parts: texts, files of each form, and data', () => {
    const content = [{ type: 'text', text: 'a' }, { type: 'reasoning', reasoning: 'b' }, {
      type: 'image_url',
      image_url: { url: 'data:image/png;base64,QQ==' },
    }, { type: 'image', source_type: 'base64', mime_type: 'image/gif', data: 'Rw==' }, {
      type: 'image',
      source: { type: 'base64', media_type: 'image/jpeg', data: 'Sg==' },
    }, { type: 'file', mimeType: 'text/csv', url: 'https://x.test/a.csv' }, { type: 'data',
      data: [1] }, { type: 'non_standard', value: { b: 2 } }]
    expect(partsOf({ type: 'ai', content })).toEqual([{ text: 'a' }, { raw: 'QQ==',
      mediaType: 'image/png' }, { raw: 'Rw==', mediaType: 'image/gif' }, { raw: 'Sg==',
      mediaType: 'image/jpeg' }, { url: 'https://x.test/a.csv', mediaType: 'text/csv' }, {
      data: [1],
    }, { data: { b: 2 } }])
  })

  it('are answers as the graph reads them', () => {
    expect(answerIn([{ text: 'a' }, { text: 'b' }])).toBe('a\nb')
    expect(answerIn([{ data: [{ type: 'accept' }] }])).toEqual([{ type: 'accept' }])
  })
})
