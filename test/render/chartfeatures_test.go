// SPDX-License-Identifier: Apache-2.0

package render

import "maps"

// cm is a template of a ConfigMap. The lines that follow it are its data.
const cm = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-{{ .Chart.Name }}\ndata:\n"

// child is a chart in charts/ with a ConfigMap that contains its values.
const child = `
== charts/child/Chart.yaml
apiVersion: v2
name: child
version: 0.1.0
== charts/child/values.yaml
color: red
nested: {a: 1, b: 2}
exports: {data: {exported: yes-it-is}}
out: {put: {x: 1}}
== charts/child/templates/cm.yaml
` + cm + `  values: {{ toJson .Values | quote }}
  root: {{ .Chart.IsRoot | quote }}
`

// own prints all values of the chart.
const own = "\n== templates/own.yaml\n" + cm + "  values: {{ toJson .Values | quote }}\n"

// crd returns a CRD of a kind in group example.org.
func crd(plural, kind string) string {
	return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " + plural + ".example.org}\nspec:\n  group: example.org\n  scope: Namespaced\n" +
		"  names: {plural: " + plural + ", kind: " + kind + "}\n  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, maxProperties: 9007199254740993}}}]\n"
}

// chartFeatures returns the features by name.
func chartFeatures() map[string]feature {
	out := map[string]feature{}
	for _, group := range []map[string]feature{dependencyFeatures(), valueFeatures(), templateFeatures(), documentFeatures(), refusedFeatures()} {
		maps.Copy(out, group)
	}
	return out
}

// withDependencies returns the Chart.yaml of a chart with dependencies.
func withDependencies(lines string) string {
	return "\n== Chart.yaml\napiVersion: v2\nname: app\nversion: 1.2.3\ndependencies:\n" + lines
}

func dependencyFeatures() map[string]feature {
	library := "\n== charts/lib/Chart.yaml\napiVersion: v2\nname: lib\nversion: 0.1.0\ntype: library\n== charts/lib/templates/_lib.tpl\n" +
		"{{ define \"lib.labels\" }}\nby: {{ .Chart.Name | quote }}\n{{- end }}\n"
	return map[string]feature{
		"SubChart":              {files: child + own},
		"SubChartValues":        {files: child + own + "\n== values.yaml\nchild: {color: blue, nested: {b: 3}}", values: "child: {nested: {c: 4}}"},
		"SubChartNull":          {files: child + own, values: "child: {nested: {a: null}, color: null}"},
		"Alias":                 {files: child + own + withDependencies("- {name: child, version: 0.1.0, alias: one}\n- {name: child, version: 0.1.0, alias: two}\n"), values: "one: {color: one}\ntwo: {color: two}"},
		"ConditionOff":          {files: child + own + withDependencies("- {name: child, version: 0.1.0, condition: child.enabled}\n"), values: "child: {enabled: false}"},
		"ConditionFirstOfTwo":   {files: child + own + withDependencies("- {name: child, version: 0.1.0, condition: 'a.on,child.enabled'}\n"), values: "child: {enabled: false}\na: {on: true}"},
		"TagsOff":               {files: child + own + withDependencies("- {name: child, version: 0.1.0, tags: [front, back]}\n"), values: "tags: {front: false}"},
		"TagsOffConditionOn":    {files: child + own + withDependencies("- {name: child, version: 0.1.0, tags: [front], condition: child.enabled}\n"), values: "tags: {front: false}\nchild: {enabled: true}"},
		"ImportValues":          {files: child + own + withDependencies("- {name: child, version: 0.1.0, import-values: [data]}\n")},
		"ImportValuesMap":       {files: child + own + withDependencies("- {name: child, version: 0.1.0, import-values: [{child: out.put, parent: mine}]}\n"), values: "mine: {y: 2}"},
		"ImportValuesOverruled": {files: child + own + withDependencies("- {name: child, version: 0.1.0, import-values: [{child: out.put, parent: mine}]}\n") + "\n== values.yaml\nmine: {x: 7}"},
		"Globals":               {files: child + own + "\n== values.yaml\nglobal: {registry: example.org, list: [1]}", values: "global: {registry: example.com}\nchild: {global: {own: true}}"},
		"Library":               {files: library + own + "\n== templates/l.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: l\n  labels: {{- include \"lib.labels\" . | nindent 4 }}\n"},
		"DeepSubChart":          {files: child + own + "\n== charts/child/charts/leaf/Chart.yaml\napiVersion: v2\nname: leaf\nversion: 0.1.0\n== charts/child/charts/leaf/templates/a.yaml\n" + cm + "  full: {{ .Template.Name }} {{ .Values.global.x }}\n", values: "global: {x: y}\nchild: {leaf: {z: 1}}"},
		"SubChartOverrides":     {files: child + "\n== charts/child/templates/_h.tpl\n{{ define \"name\" }}child{{ end }}\n== templates/_h.tpl\n{{ define \"name\" }}parent{{ end }}\n== charts/child/templates/n.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ include \"name\" . }}'}\n"},
		"SubCharts":             {files: child + "\n== templates/s.yaml\n" + cm + "  color: {{ .Subcharts.child.Values.color }}\n  version: {{ .Subcharts.child.Chart.Version }}\n"},
		"OldRequirements":       {files: child + own + "\n== Chart.yaml\napiVersion: v1\nname: app\nversion: 1.2.3\n== requirements.yaml\ndependencies: [{name: child, version: 0.1.0, condition: child.enabled}]\n", values: "child: {enabled: false}"},
		"CRDsOfSubChart":        {files: child + "\n== charts/child/crds/a.yaml\n" + crd("apples", "Apple") + "\n== crds/z.yaml\n" + crd("zebras", "Zebra") + "---\n" + crd("yaks", "Yak") + "\n== crds/b/b.yaml\n---\n# a comment\n---\n" + crd("bees", "Bee")},
		"CRDsOfDisabled":        {files: child + own + withDependencies("- {name: child, version: 0.1.0, condition: child.enabled}\n") + "\n== charts/child/crds/a.yaml\n" + crd("apples", "Apple"), values: "child: {enabled: false}"},
		"CRDsAreNoTemplates":    {files: own + "\n== crds/a.yaml\n" + crd("apples", "Apple") + "# {{ fail \"x\" }}\n"},
	}
}

func valueFeatures() map[string]feature {
	shown := "\n== templates/p.yaml\n" + cm + "  json: {{ toJson .Values | quote }}\n  yaml: |\n{{ toYaml .Values | indent 4 }}\n"
	schema := "\n== values.schema.json\n{\"type\":\"object\",\"required\":[\"port\"],\"properties\":{\"port\":{\"type\":\"integer\",\"minimum\":1}}}"
	return map[string]feature{
		"Defaults":          {files: shown + "\n== values.yaml\na: 1\nm: {x: [1, 2, {y: z}], e: {}, l: []}\nt: true\nn: null\n"},
		"Merged":            {files: shown + "\n== values.yaml\na: 1\nm: {x: 1, y: {z: 2}}\nl: [1, 2]\n", values: "m: {y: {w: 3}}\nl: [3]"},
		"NullDeletes":       {files: shown + "\n== values.yaml\na: 1\nm: {x: 1, y: {z: 2}}\n", values: "a: null\nm: {y: {z: null}, new: null}"},
		"MapForScalar":      {files: shown + "\n== values.yaml\na: 1\nm: {x: 1}\n", values: "a: {b: c}"},
		"ScalarForMap":      {files: shown + "\n== values.yaml\na: 1\nm: {x: 1}\n", values: "m: text"},
		"Numbers":           {files: shown + "\n== templates/n.yaml\n" + cm + "{{- range $k, $v := .Values }}\n  {{ $k }}: {{ $v | quote }}\n  {{ $k }}-int: {{ int64 $v | quote }}\n{{- end }}\n", values: "i: 9007199254740993\nbig: 12345678\nmillion: 1000000\nf: 1.5\nwhole: 2.0\nneg: -7\noct: 0777\noct2: 0o17\nhex: 0x1F\nexp: 1e3\nsmall: 0.000001\nsep: 1_000"},
		"NumbersInObject":   {files: "\n== templates/d.yaml\napiVersion: example.org/v1\nkind: Thing\nmetadata: {name: t}\nspec: {i: 9007199254740993, mode: 0644, mode2: 0o644, f: 1.50, e: 1e6, s: '0644', neg: -0, rep: {{ .Values.r }}, inf: .5, hex: 0xff}\n", values: "r: 3"},
		"Strings":           {files: shown, values: "on: 'yes'\nyes: on\nver: '1.10'\nver2: 1.10\ndate: 2024-01-02\nempty: ''\nnul: ~\nmulti: |\n  a\n\n  b\nfold: >-\n  a\n  b\ncolon: 'a: b'\nhash: '# x'\nquote: \"a\\\"b\"\n"},
		"Unicode":           {files: shown, values: "s: 'Grüße, мир 🎉'\n'schlüssel': \"\\u00e9\\U0001F600\"\nhtml: '<a href=\"x\">&</a>'"},
		"Anchors":           {files: shown + "\n== values.yaml\nbase: &b {x: 1, l: &l [1]}\nother: {<<: *b, y: 2}\nlist: *l\n", values: "u: &u {v: w}\nz: *u"},
		"Set":               {files: shown + "\n== values.yaml\na: {b: 1, c: 2}\nl: [{n: x}, {n: y}]\n", set: `a.b=7,a.s=text,l[1].n=z,new.k\.dotted/x=v,list={p,q},t=true,nul=null,zero=0123,neg=-3,f=1.5,e=`},
		"SetDeletes":        {files: shown + "\n== values.yaml\na: {b: 1, c: 2}\n", set: "a.b=null"},
		"SetSubChart":       {files: child + own, set: "child.color=green,global.x=y"},
		"Schema":            {files: shown + schema, values: "port: 80"},
		"SchemaOfSubChart":  {files: child + own + "\n== charts/child/values.schema.json\n{\"properties\":{\"color\":{\"enum\":[\"red\",\"blue\"]}}}", values: "child: {color: blue}"},
		"KubeVersion":       {files: shown + "\n== Chart.yaml\napiVersion: v2\nname: app\nversion: 1.2.3\nkubeVersion: '>=1.25.0-0 <1.99.0'\n"},
		"NullInSubChart":    {files: child + own + "\n== values.yaml\nchild: {nested: null}\n"},
		"DefaultOfNullKept": {files: shown + "\n== values.yaml\nkeep: null\nm: {n: null}\n"},
	}
}

func templateFeatures() map[string]feature {
	fileSet := "\n== conf/a.txt\none\ntwo\n\n== conf/b.ini\nx = \"1\"\n== conf/deep/c.txt\nünï\n== top.txt\ntop: {{ .Values.x }}\n"
	return map[string]feature{
		"FilesGet":       {files: fileSet + "\n== templates/f.yaml\n" + cm + "  got: {{ .Files.Get \"conf/a.txt\" | quote }}\n  none: {{ .Files.Get \"no\" | quote }}\n  bytes: {{ .Files.GetBytes \"conf/deep/c.txt\" | len | quote }}\n  tpl: {{ tpl (.Files.Get \"top.txt\") . | quote }}\n", values: "x: y"},
		"FilesGlob":      {files: fileSet + "\n== templates/f.yaml\n" + cm + "{{ range $p, $_ := .Files.Glob \"conf/**\" }}\n  {{ base $p }}: {{ $p }}\n{{- end }}\n{{ range $p, $_ := .Files.Glob \"**.txt\" }}\n  g{{ base $p }}: {{ dir $p }}\n{{- end }}\n"},
		"FilesAsConfig":  {files: fileSet + "\n== templates/f.yaml\n" + cm + "{{ (.Files.Glob \"conf/*\").AsConfig | indent 2 }}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n{{ (.Files.Glob \"conf/**\").AsSecrets | indent 2 }}\n"},
		"FilesLines":     {files: fileSet + "\n== templates/f.yaml\n" + cm + "{{- range $i, $l := .Files.Lines \"conf/a.txt\" }}\n  l{{ $i }}: {{ $l | quote }}\n{{- end }}\n"},
		"HelmIgnore":     {files: fileSet + "\n== .helmignore\n*.bak\n== templates/f.yaml\n" + cm + "  a: {{ .Files.Get \"conf/a.txt\" | quote }}\n"},
		"Tpl":            {files: "\n== values.yaml\nt: '{{ .Release.Name }}-{{ include \"n\" . }}-{{ .Values.inner | upper }}'\ninner: i\n== templates/_n.tpl\n{{ define \"n\" }}{{ .Chart.Name }}{{ end }}\n== templates/t.yaml\n" + cm + "  t: {{ tpl .Values.t . }}\n  yaml: {{ tpl (toYaml .Values) . | quote }}\n  dict: {{ tpl \"{{ .a }}\" (dict \"a\" 1 \"Template\" .Template) | quote }}\n"},
		"Include":        {files: "\n== templates/_h.tpl\n{{- define \"x\" -}}\n{{ .name }}: {{ .root.Release.Name }}\n{{- end -}}\n{{- define \"labels\" }}\napp: {{ .Chart.Name }}\nver: {{ .Chart.AppVersion | quote }}\n{{- end }}\n== templates/i.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: i\n  labels:\n    {{- include \"labels\" . | nindent 4 }}\ndata:\n  {{ include \"x\" (dict \"name\" \"k\" \"root\" $) }}\n"},
		"LaterDefineWin": {files: "\n== templates/_a.tpl\n{{ define \"x\" }}a{{ end }}\n== templates/_b.tpl\n{{ define \"x\" }}b{{ end }}\n== templates/i.yaml\n" + cm + "  x: {{ include \"x\" . }}\n"},
		"Required":       {files: "\n== templates/r.yaml\n" + cm + "  r: {{ required \"x is needed\" .Values.x | quote }}\n", values: "x: 0"},
		"Lookup":         {files: "\n== templates/l.yaml\n" + cm + "  all: {{ lookup \"v1\" \"Secret\" \"\" \"\" | toJson | quote }}\n  one: {{ (lookup \"v1\" \"Secret\" \"ns\" \"n\").data | default \"none\" }}\n{{ range (lookup \"v1\" \"Pod\" \"ns\" \"\").items }}\n  x: y\n{{ end }}"},
		"Capabilities":   {files: "\n== templates/c.yaml\n" + cm + "  version: {{ .Capabilities.KubeVersion }} {{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.KubeVersion.Major }}.{{ .Capabilities.KubeVersion.Minor }} {{ .Capabilities.KubeVersion.GitVersion }}\n  apps: {{ .Capabilities.APIVersions.Has \"apps/v1\" | quote }}\n  kind: {{ .Capabilities.APIVersions.Has \"apps/v1/Deployment\" | quote }}\n  own: {{ .Capabilities.APIVersions.Has \"monitoring.coreos.com/v1\" | quote }}\n  none: {{ .Capabilities.APIVersions.Has \"x/v1\" | quote }}\n", apis: []string{"monitoring.coreos.com/v1"}},
		"Release":        {files: "\n== templates/c.yaml\n" + cm + "  r: {{ toJson .Release | quote }}\n  c: {{ toJson .Chart | quote }}\n  t: {{ toJson .Template | quote }}\n"},
		"Semver":         {files: "\n== templates/c.yaml\n" + cm + "  a: {{ semverCompare \">=1.30-0\" .Capabilities.KubeVersion.Version | quote }}\n  b: {{ (semver \"1.2.3-rc.1+b\").Prerelease }}\n  c: {{ semverCompare \"^1.2\" \"v1.9.0\" | quote }}\n"},
		"Dicts":          {files: "\n== templates/c.yaml\n{{- $d := dict \"a\" 1 \"b\" (list 1 2) }}\n{{- $c := deepCopy $d }}{{ $_ := set $c \"a\" 2 }}{{ $_ = unset $c \"b\" }}\n" + cm + "  d: {{ toJson $d | quote }}\n  m: {{ merge $c (dict \"a\" 9 \"z\" 1) | toJson | quote }}\n  o: {{ mergeOverwrite (dict \"a\" (dict \"x\" 1)) (dict \"a\" (dict \"y\" 2)) | toJson | quote }}\n  p: {{ pluck \"a\" $c $d | toJson | quote }}\n  dig: {{ dig \"a\" \"b\" \"none\" (dict \"a\" (dict \"b\" \"found\")) }}\n  pick: {{ pick $d \"a\" | toJson | quote }}\n  omit: {{ omit $d \"a\" | toJson | quote }}\n"},
		"Lists":          {files: "\n== templates/c.yaml\n{{- $l := list 3 1 2 }}\n" + cm + "  a: {{ append $l 4 | join \",\" | quote }}\n  s: {{ list \"c\" \"a\" | sortAlpha | join \"-\" }}\n  u: {{ uniq (list 1 1 2) | toJson | quote }}\n  w: {{ without $l 1 | toJson | quote }}\n  h: {{ has 3 $l | quote }}\n  c: {{ chunk 2 $l | toJson | quote }}\n  r: {{ reverse $l | first | quote }}\n  t: {{ ternary \"y\" \"n\" (empty $l) | quote }}\n  co: {{ coalesce 0 \"\" \"x\" }}\n"},
		"Text":           {files: "\n== templates/c.yaml\n" + cm + "  a: {{ \"Hello World\" | kebabcase | trunc 8 | trimSuffix \"-\" }}\n  b: {{ printf \"%s-%05d %v\" \"x\" 42 true | squote }}\n  c: {{ \"a,b\" | splitList \",\" | toJson | quote }}\n  d: {{ \"x\" | b64enc | b64dec }}\n  e: {{ regexReplaceAll \"a(x*)b\" \"-ab-axxb-\" \"${1}W\" | quote }}\n  f: {{ \"secret\" | sha256sum }}\n  g: {{ \"abc\" | repeat 2 | upper | nospace }}\n  h: {{ \"a\\nb\" | nindent 4 | quote }}\n  i: {{ atoi \"7\" | add 1 | mul 3 | quote }}\n  j: {{ default \"d\" .Values.none }}\n  k: {{ urlParse \"http://u@h:1/p?q=1\" | toJson | quote }}\n  l: {{ div 7 2 }}{{ mod 7 2 }}{{ round 1.256 2 }}{{ ceil 1.1 }}{{ floor 1.9 }}{{ max 1 3 2 }}\n"},
		"FromYaml":       {files: "\n== templates/c.yaml\n" + cm + "  a: {{ (fromYaml .Values.text).a.b | quote }}\n  b: {{ fromJson \"{\\\"x\\\": [1, 2.5]}\" | toJson | quote }}\n  c: {{ fromYamlArray \"[1, two]\" | toJson | quote }}\n  d: {{ toToml (dict \"a\" (dict \"b\" 1)) | quote }}\n  e: {{ (fromYaml \"a: [\").Error | quote }}\n  f: {{ mustToJson .Values | quote }}\n  g: {{ toYamlPretty (dict \"l\" (list 1 (dict \"x\" 1))) | quote }}\n  h: {{ toPrettyJson (dict \"b\" 1 \"a\" \"<>\") | quote }}\n  i: {{ toRawJson (dict \"a\" \"<>\") | quote }}\n", values: "text: 'a: {b: 010}'"},
		"Flow":           {files: "\n== templates/c.yaml\n" + cm + "{{- range $k, $v := .Values.m }}\n  {{ $k }}: {{ $v | quote }}\n{{- else }}\n  empty: 'yes'\n{{- end }}\n{{- range $i, $e := .Values.l }}{{ if eq $i 3 }}{{ break }}{{ end }}{{ if eq $e \"b\" }}{{ continue }}{{ end }}\n  l{{ $i }}: {{ $e }}\n{{- end }}\n{{- with .Values.none }}\n  with: x\n{{- else with .Values.w }}\n  with: {{ . }}\n{{- end }}\n{{- if and (not .Values.x) (or .Values.w false) (ne 1 2) (gt 2.0 1.0) (kindIs \"string\" .Values.w) }}\n  if: ok\n{{- end }}\n{{- range 3 }}\n  r{{ . }}: r\n{{- end }}\n  aa: {{ \"x\" -}}  \n{{ \"\\n\" }}  v: {{ index .Values.l 0 }}{{ len .Values.l }}{{ slice .Values.l 1 2 | first }}\n", values: "m: {z: 1, a: x}\nl: [a, b, c, d, e]\nw: text"},
		"NoValue":        {files: "\n== templates/c.yaml\n" + cm + "  a: \"x{{ .Values.nope }}y\"\n  b: {{ .Values.m.nope }}\n  c: \"<no value>\"\n", values: "m: {}"},
		"Notes":          {files: "\n== templates/NOTES.txt\nInstalled {{ .Release.Name }} in {{ .Release.Namespace }}.\n{{ if .Values.x }}x{{ end }}\n== templates/n.yaml\n" + cm + "  notes: {{ include \"app/templates/NOTES.txt\" . | quote }}\n"},
		"NotesOfChild":   {files: child + "\n== charts/child/templates/NOTES.txt\nnot shown\n"},
		"Getenv":         {files: "\n== templates/c.yaml\n" + cm + "  host: {{ getHostByName \"localhost\" | quote }}\n"},
		"Mutation":       {files: "\n== templates/a.yaml\n{{ $_ := set .Values \"seen\" \"a\" }}\n== templates/b.yaml\n" + cm + "  seen: {{ .Values.seen | quote }}\n== templates/sub/c.yaml\n{{ $_ := set .Values \"seen\" \"c\" }}\n"},
	}
}

func documentFeatures() map[string]feature {
	job := func(name, annotations string) string {
		return "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " + name + "\n  annotations: {" + annotations + "}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}\n"
	}
	simple := func(kind, name string) string {
		return "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: " + name + "}\n"
	}
	return map[string]feature{
		"Hooks": {files: own + "\n== templates/h.yaml\n" + job("one", "helm.sh/hook: 'pre-install, post-upgrade', helm.sh/hook-weight: '5', helm.sh/hook-delete-policy: 'before-hook-creation,hook-succeeded'") +
			"---\n" + job("two", "helm.sh/hook: pre-install, helm.sh/hook-weight: '-5'") + "---\n" + job("three", "helm.sh/hook: post-delete, helm.sh/hook-weight: five") +
			"---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sa, annotations: {helm.sh/hook: pre-install}}\n---\n" + job("t", "helm.sh/hook: test")},
		"HooksOfSubChart": {files: child + "\n== charts/child/templates/h.yaml\n" + job("child", "helm.sh/hook: pre-rollback") + "\n== templates/h.yaml\n" + job("parent", "helm.sh/hook: 'post-rollback,test-success'")},
		"ResourcePolicy":  {files: "\n== templates/k.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: k, annotations: {helm.sh/resource-policy: keep}}\n"},
		"InstallOrder": {files: "\n== templates/a.yaml\n" + "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: z}\n---\n" + simple("Service", "s") + "---\n" + simple("Namespace", "ns") + "---\n" + simple("Secret", "b") + "---\n" + simple("Secret", "a") +
			"---\napiVersion: example.org/v1\nkind: Zoo\nmetadata: {name: zoo}\n---\napiVersion: example.org/v1\nkind: Ape\nmetadata: {name: ape}\n" + "\n== templates/b.yaml\n" + simple("ServiceAccount", "sa") + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: other}\n"},
		"Lists":         {files: "\n== templates/l.yaml\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- {apiVersion: v1, kind: Secret, metadata: {name: b}}\n---\napiVersion: v1\nkind: ConfigMapList\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}]\n"},
		"EmptyList":     {files: own + "\n== templates/l.yaml\napiVersion: v1\nkind: List\nitems: []\n"},
		"Empty":         {files: own + "\n== templates/e.yaml\n\n---\n\n---\n# only a comment\n---\n{{- if false }}\nx: y\n{{- end }}\n---\n" + simple("Secret", "s") + "---\n== templates/blank.yaml\n  \n\t\n== templates/comment.yaml\n# nothing\n"},
		"Separators":    {files: "\n== templates/s.yaml\n---\n" + simple("Secret", "a") + "---   \n" + simple("Secret", "b") + "--- # comment\n" + simple("Secret", "c") + "stringData:\n  text: |\n    ---\n    x\n    --- y\n"},
		"YAML":          {files: "\n== templates/y.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml, labels: &l {a: b}, annotations: {on: \"yes\", n: \"1\"}}\ndata:\n  <<: *l\n  lit: |+\n    a\n\n  fold: >\n    a\n    b\n  \"q\": 'it''s'\n"},
		"JSON":          {files: "\n== templates/j.yaml\n{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"j\"}, \"data\": {\"t\": \"a\\tb\\u00fc\"}}\n== templates/k.json\n{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"k\"}}\n"},
		"OtherNames":    {files: own + "\n== templates/readme.txt\n" + simple("Secret", "t") + "\n== templates/noext\n" + simple("Secret", "noext") + "\n== templates/x.yml\n" + simple("Secret", "x") + "\n== templates/_part.yaml\n" + simple("Secret", "p") + "\n== templates/dir/_h.txt\n{{ define \"q\" }}{{ end }}\n"},
		"DuplicateKeys": {files: "\n== templates/d.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: d, labels: {a: b, a: c}}\ndata: {x: \"1\"}\ndata: {z: \"2\"}\n== crds/a.yaml\n" + crd("apples", "Apple") + "kind: CustomResourceDefinition\n"},
		"CRLF":          {files: "\n== templates/c.yaml\napiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: c}\r\ndata:\r\n  a: |\r\n    one\r\n    two\r\n---\r\n" + simple("Secret", "s")},
		"Namespaces":    {files: "\n== templates/n.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: nn, namespace: {{ .Values.ns | default .Release.Namespace }}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: nn, namespace: kube-system}\n"},
	}
}

func refusedFeatures() map[string]feature {
	return map[string]feature{
		"RefusedRequired":      {files: "\n== templates/r.yaml\n" + cm + "  r: {{ required \"x is needed\" .Values.x }}\n", fails: true},
		"RefusedFail":          {files: "\n== templates/r.yaml\n{{ fail \"no\" }}\n", fails: true},
		"RefusedSyntax":        {files: "\n== templates/r.yaml\n{{ if }}\n", fails: true},
		"RefusedFunction":      {files: "\n== templates/r.yaml\n{{ env \"HOME\" }}\n", fails: true},
		"RefusedNil":           {files: "\n== templates/r.yaml\n" + cm + "  r: {{ .Values.a.b.c }}\n", fails: true},
		"RefusedInclude":       {files: "\n== templates/r.yaml\n{{ include \"none\" . }}\n", fails: true},
		"RefusedSchema":        {files: own + "\n== values.schema.json\n{\"required\":[\"port\"]}", fails: true},
		"RefusedSchemaOfChild": {files: child + "\n== charts/child/values.schema.json\n{\"properties\":{\"color\":{\"enum\":[\"blue\"]}}}", fails: true},
		"RefusedKubeVersion":   {files: own + "\n== Chart.yaml\napiVersion: v2\nname: app\nversion: 1.2.3\nkubeVersion: '<1.20.0'\n", fails: true},
		"RefusedMissing":       {files: own + withDependencies("- {name: none, version: 1.0.0, repository: 'https://example.org'}\n"), fails: true},
		"RefusedYAML":          {files: "\n== templates/r.yaml\nkind: [\n", fails: true},
		"RefusedLibrary":       {files: own + "\n== Chart.yaml\napiVersion: v2\nname: app\nversion: 1.2.3\ntype: library\n", fails: true},
		"RefusedVersion":       {files: own + "\n== Chart.yaml\napiVersion: v2\nname: app\nversion: one\n", fails: true},
		"RefusedSet":           {files: own, set: "a[x]=1", fails: true},
	}
}
