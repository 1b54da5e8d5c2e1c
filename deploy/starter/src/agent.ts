/** A chat agent: the model calls tools until it has an answer. */

import { SystemMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { z } from 'zod'

import { loadModel } from './model.ts'

/** The settings of an assistant. Each assistant runs this graph with settings of its own. */
const Context = z.object({
  model_name: z.string().optional().describe('A model of the provider whose API key is set.'),
  system_prompt: z.string().optional().describe('Instructions that precede the conversation.'),
})

type Config = LangGraphRunnableConfig<z.infer<typeof Context>>

/** A fake forecast, computed from the name of the city: call a weather service here instead. */
const getWeather = tool(({ city }) => {
  const skies = ['sunny', 'cloudy', 'rainy', 'windy', 'foggy']
  const number = [...city.toLowerCase()].reduce((sum, letter) => sum + letter.charCodeAt(0), 0)
  return `It is ${skies[number % skies.length]} in ${city}, at ${number % 30} °C.`
}, {
  name: 'get_weather',
  description: 'Gets the current weather in a city.',
  schema: z.object({ city: z.string().describe('The name of the city, like "Paris".') }),
})

const tools = [getWeather]

async function callModel({ messages }: typeof MessagesAnnotation.State, { context }: Config) {
  const model = await loadModel(context?.model_name, tools)
  const prompt = new SystemMessage(context?.system_prompt ?? 'You are a helpful assistant.')
  return { messages: [await model.invoke([prompt, ...messages])] }
}

export const agent = new StateGraph(MessagesAnnotation, Context)
  .addNode('model', callModel)
  .addNode('tools', new ToolNode(tools))
  .addEdge(START, 'model')
  .addConditionalEdges('model', toolsCondition, ['tools', END])
  .addEdge('tools', 'model')
  .compile()
