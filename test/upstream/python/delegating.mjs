/** The `deep_agent` of the Python suite: gives a task to a subagent, then ends. */

import { createDeepAgent } from 'deepagents'

import { ScriptedModel } from './model.mjs'

const task = { subagent_type: 'researcher', description: 'research streaming' }

const supervisor = new ScriptedModel((messages) =>
  messages.some(({ type }) => type === 'tool')
    ? { content: 'Research complete.', id: 'sup-2' }
    : { content: '', id: 'sup-1', tool_calls: [{ id: 'tc-task-1', name: 'task', args: task }] }
)

const researcher = new ScriptedModel(() => ({ content: 'Streams have events.', id: 'res-1' }))

/** The graph. */
export const graph = createDeepAgent({
  model: supervisor,
  systemPrompt: 'Give research to the researcher.',
  subagents: [{
    name: 'researcher',
    description: 'Looks things up.',
    systemPrompt: 'Answer with one sentence.',
    model: researcher,
  }],
})
