/** A chat agent: a model decides, tools do what it asks for, until it has an answer. */

import { SystemMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { z } from 'zod'

/** What an assistant may set: the same graph with another context is another assistant. */
const Context = z.object({
  model_name: z.string().optional().describe('A model of the provider whose key is set.'),
  system_prompt: z.string().optional().describe('What the agent is told before all else.'),
})

type Config = LangGraphRunnableConfig<z.infer<typeof Context>>

/** Put a call to a weather service here; this one has made up its mind about every place. */
const getWeather = tool(({ city }) => {
  const skies = ['sunny', 'cloudy', 'rainy', 'windy', 'foggy']
  const number = [...city.toLowerCase()].reduce((sum, letter) => sum + letter.charCodeAt(0), 0)
  return `It is ${skies[number % skies.length]} in ${city}, at ${number % 30} °C.`
}, {
  name: 'get_weather',
  description: 'Tells the weather in a city.',
  schema: z.object({ city: z.string().describe('The name of the city, like "Paris".') }),
})

const tools = [getWeather]

/** Loads only the provider that is used. Without a key, a small stand-in that needs no network. */
async function loadModel(name: string | undefined) {
  if (process.env.OPENAI_API_KEY) {
    const { ChatOpenAI } = await import('@langchain/openai')
    return new ChatOpenAI({ model: name ?? 'gpt-4o-mini' }).bindTools(tools)
  }
  if (process.env.ANTHROPIC_API_KEY) {
    const { ChatAnthropic } = await import('@langchain/anthropic')
    return new ChatAnthropic({ model: name ?? 'claude-sonnet-4-5' }).bindTools(tools)
  }
  const { LocalModel } = await import('./local-model.ts')
  return new LocalModel({}).bindTools(tools)
}

async function callModel({ messages }: typeof MessagesAnnotation.State, { context }: Config) {
  const model = await loadModel(context?.model_name)
  const prompt = new SystemMessage(context?.system_prompt ?? 'You are a helpful assistant.')
  return { messages: [await model.invoke([prompt, ...messages])] }
}

export const agent = new StateGraph(MessagesAnnotation, Context)
  .addNode('model', callModel)
  .addNode('tools', new ToolNode(tools))
  .addEdge(START, 'model')
  .addConditionalEdges('model', toolsCondition, ['tools', '__end__'])
  .addEdge('tools', 'model')
  .compile()
