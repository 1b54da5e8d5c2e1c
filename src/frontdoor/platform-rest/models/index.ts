/** Routes of models: secrets, and what asks models of customers. */

export { backgroundExperimentRoutes } from './background-experiments.ts'
export { playgroundSettingRoutes } from './playground-settings.ts'
export { playgroundRoutes } from './playground.ts'
export { experimentRoutes } from './experiments.ts'
export { generateRoutes } from './generate.ts'
export { priceRoutes } from './prices.ts'
export { secretRoutes } from './secrets.ts'
