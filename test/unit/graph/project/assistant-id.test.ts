/** The id of a graph's default assistant. */

import { expect, it } from 'vitest'

import { systemAssistantId } from '../../../../src/graph/project/assistant-id.ts'

it('gives a graph the assistant id that clients compute for it', () => {
  expect(systemAssistantId('agent')).toBe('fe096781-5601-53d2-b2f6-0d3403f7e9ca')
  expect(systemAssistantId('other')).not.toBe(systemAssistantId('agent'))
})
