{{- define "site.labels" -}}
app.kubernetes.io/name: site
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
