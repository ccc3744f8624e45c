// The npm packages of the tests, which are not beside the servers but below target/.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.env.DORMOUSE_TEST_NPM, 'package.json'));

export const load = (name) => import(pathToFileURL(require.resolve(name)).href);
